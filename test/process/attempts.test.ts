import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { createProcesses } from '../../src/supervisor/node/processes/index.js';
import {
  followToEnd,
  isRunning,
  pidIn,
  shellAttempt,
  started,
  startShell,
  until,
} from '../support/attempts.js';
import { temporary } from '../support/storeFixtures.js';

const processes = createProcesses();

describe('an attempt', () => {
  it('its lines are passed on before its end, of both streams, with their offsets', async () => {
    const { request, process } = await startShell(
      processes,
      'echo one; echo "zwei ä" >&2; printf "no newline"; exit 7',
    );
    const { lines, end } = await followToEnd(processes, { folder: request.folder, process });
    expect(end).toEqual({ kind: 'ended', code: 7, signal: null });
    expect(lines.filter((line) => line.stream === 'stdout')).toEqual([
      { stream: 'stdout', text: 'one', end: 4, cut: false },
      { stream: 'stdout', text: 'no newline', end: 14, cut: false },
    ]);
    expect(lines.filter((line) => line.stream === 'stderr')).toEqual([
      { stream: 'stderr', text: 'zwei ä', end: 8, cut: false },
    ]);
  });

  it('arguments and environment arrive as they are, and nothing of them is obeyed by a shell', async () => {
    const args = ['$(touch bad)', '`touch bad`', '; touch bad', '"', "'", '\\', '-n', '', 'a\nb', '*'];
    const request = shellAttempt('', {
      file: process.execPath,
      args: [
        '-e',
        'console.log(JSON.stringify([process.argv.slice(1), process.env.ODD, process.env.SWARM_NONCE]))',
        '--',
        ...args,
      ],
      env: { ODD: '$(touch bad)\n"', PATH: '' },
    });
    const id = started(await processes.start(request));
    const { lines } = await followToEnd(processes, { folder: request.folder, process: id });
    expect(JSON.parse(lines[0]?.text ?? '')).toEqual([args, '$(touch bad)\n"', request.nonce]);
    expect(fs.existsSync(path.join(request.folder, 'bad'))).toBe(false);
  });

  it('its environment and arguments are in none of its files', async () => {
    const { request, process } = await startShell(processes, 'exit 0', {
      env: { PATH: '/usr/bin:/bin', KEY: 'sk-secret-1234' },
    });
    await followToEnd(processes, { folder: request.folder, process });
    for (const name of fs.readdirSync(request.folder))
      expect(fs.readFileSync(path.join(request.folder, name), 'latin1')).not.toContain('sk-secret-1234');
  });

  it('secrets that it prints are stars in its logs, which keep their length and their other words', async () => {
    const token = `ghp_${'aB3dE5gH7j'.repeat(4)}`;
    const key = ['-----BEGIN PRIVATE KEY-----', 'MIIabcdefgh', '-----END PRIVATE KEY-----'].join('\n');
    const json = JSON.stringify({ text: `ä "${token}" and "password": "hunter2hunter2"` });
    const said = `before ${token} after\n${json}\n${key}\nthe end ${token}`;
    const { request, process } = await startShell(processes, 'printf %s "$SAID"; printf %s "$SAID" >&2', {
      env: { PATH: '/usr/bin:/bin', SAID: said },
    });
    const { lines } = await followToEnd(processes, { folder: request.folder, process });
    expect(lines[0]?.text).toContain(token);
    for (const name of ['stdout.log', 'stderr.log']) {
      const log = fs.readFileSync(path.join(request.folder, name), 'utf8');
      expect(log).not.toMatch(/ghp_|hunter2|MIIabc/);
      expect(Buffer.byteLength(log)).toBe(Buffer.byteLength(said));
      const [first, second, ...rest] = log.split('\n');
      expect(first).toBe(`before ${'*'.repeat(token.length)} after`);
      expect((JSON.parse(second ?? '') as { text: string }).text).toMatch(/^ä "\*+" and "password": "\*+"$/);
      expect(rest.at(-1)).toBe(`the end ${'*'.repeat(token.length)}`);
    }
  });

  it('its files are for the user alone, and what it makes has the modes of its surroundings', async () => {
    const work = temporary();
    const { request, process } = await startShell(processes, 'echo out; echo err >&2; umask; : > made', {
      cwd: work,
    });
    const { lines } = await followToEnd(processes, { folder: request.folder, process });
    const modes = fs
      .readdirSync(request.folder)
      .map((name) => `${name} ${(fs.statSync(path.join(request.folder, name)).mode & 0o777).toString(8)}`);
    expect(modes.sort()).toEqual(['claim 600', 'exit.json 600', 'stderr.log 600', 'stdout.log 600']);
    const mask = globalThis.process.umask();
    expect(lines.map((line) => line.text)).toContain(mask.toString(8).padStart(4, '0'));
    expect(fs.statSync(path.join(work, 'made')).mode & 0o777).toBe(0o666 & ~mask);
  });

  it('that never reads a long prompt ends by itself, and can be killed', async () => {
    const file = path.join(temporary(), 'prompt');
    fs.writeFileSync(file, 'a long prompt\n'.repeat(100_000));
    const first = await startShell(processes, 'echo done', { stdin: file });
    expect(
      await followToEnd(processes, { folder: first.request.folder, process: first.process }),
    ).toMatchObject({
      lines: [{ text: 'done' }],
      end: { kind: 'ended', code: 0 },
    });
    const second = await startShell(processes, 'echo $$ > one.pid; exec sleep 300', { stdin: file });
    const pid = await pidIn(path.join(second.request.folder, 'one.pid'));
    await processes.kill(second.process);
    expect(isRunning(pid)).toBe(false);
  });

  it('reads its stdin from a file, or finds it closed', async () => {
    const file = path.join(temporary(), 'prompt');
    fs.writeFileSync(file, 'the prompt\n');
    const first = await startShell(processes, 'cat', { stdin: file });
    expect(
      (await followToEnd(processes, { folder: first.request.folder, process: first.process })).lines[0]?.text,
    ).toBe('the prompt');
    const second = await startShell(processes, 'cat; echo end');
    expect(
      (await followToEnd(processes, { folder: second.request.folder, process: second.process })).lines[0]
        ?.text,
    ).toBe('end');
  });

  it('is started once, however often and from wherever it is asked for', async () => {
    const request = shellAttempt('echo started; sleep 0.2');
    const outcomes = await Promise.all(Array.from({ length: 8 }, () => createProcesses().start(request)));
    expect(outcomes.filter((one) => one.kind === 'started')).toHaveLength(1);
    expect(outcomes.filter((one) => one.kind === 'startedBefore')).toHaveLength(7);
    const { lines } = await followToEnd(processes, { folder: request.folder, process: null });
    expect(lines.map((line) => line.text)).toEqual(['started']);
    expect(await processes.start(request)).toEqual({
      kind: 'startedBefore',
      found: { kind: 'ended', code: 0, signal: null },
    });
  });

  it('a start that cannot be says why and may be tried again', async () => {
    const missing = shellAttempt('', { file: '/no/such/program' });
    expect(await processes.start(missing)).toMatchObject({
      kind: 'failed',
      message: '/no/such/program does not exist.',
    });
    const nowhere = shellAttempt('true', { cwd: '/no/such/folder' });
    expect(await processes.start(nowhere)).toMatchObject({
      kind: 'failed',
      message: expect.stringContaining('/no/such/folder') as unknown,
    });
    const noInput = shellAttempt('true', { stdin: '/no/such/file' });
    expect(await processes.start(noInput)).toMatchObject({ kind: 'failed', disk: false });
    expect(await processes.find(noInput.folder)).toEqual({ kind: 'never' });
    expect((await processes.start({ ...noInput, stdin: null })).kind).toBe('started');
  });

  it.each([
    ['kill -KILL $$', 137, 'SIGKILL'],
    ['kill -TERM $$', 143, 'SIGTERM'],
    ['exit 173', 173, null],
    ['exit 75', 75, null],
  ])('%s is written down as its end', async (text, code, signal) => {
    const { request, process } = await startShell(processes, text);
    expect((await followToEnd(processes, { folder: request.folder, process })).end).toEqual({
      kind: 'ended',
      code,
      signal,
    });
  });

  it('outlives who started it: its end is found by the next one, its output goes on without gap or repeat', async () => {
    const request = shellAttempt('for i in 1 2 3 4 5 6 7 8 9; do echo line $i; sleep 0.1; done; exit 5');
    const starter = spawn(process.execPath, ['--import', 'data:text/javascript,', '-e', ''], {
      stdio: 'ignore',
    });
    starter.kill();
    const first = createProcesses();
    const id = started(await first.start(request));
    const seen: string[] = [];
    let offset = 0;
    const follower = first.follow({
      folder: request.folder,
      process: id,
      stdout: 0,
      stderr: 0,
      onLines: (lines) => {
        seen.push(...lines.map((line) => line.text));
        offset = lines.at(-1)?.end ?? offset;
      },
    });
    await until(() => seen.length >= 3);
    follower.dispose();
    const next = createProcesses();
    expect(await next.find(request.folder)).toEqual({ kind: 'alive', process: id });
    const { lines, end } = await followToEnd(
      next,
      { folder: request.folder, process: id },
      { stdout: offset, stderr: 0 },
    );
    expect([...seen, ...lines.map((line) => line.text)]).toEqual(
      [1, 2, 3, 4, 5, 6, 7, 8, 9].map((n) => `line ${n}`),
    );
    expect(end).toEqual({ kind: 'ended', code: 5, signal: null });
  });

  it('gone without a status is lost; a folder without a claim was never started', async () => {
    const { request, process } = await startShell(processes, 'echo here; sleep 60');
    await until(() => fs.readFileSync(path.join(request.folder, 'stdout.log'), 'utf8') !== '');
    const following = followToEnd(processes, { folder: request.folder, process });
    globalThis.process.kill(-process.pid, 'SIGKILL');
    const { lines, end } = await following;
    expect(lines.map((line) => line.text)).toEqual(['here']);
    expect(end).toEqual({ kind: 'lost' });
    expect(await processes.find(request.folder)).toEqual({ kind: 'lost' });
    expect(await processes.find(temporary())).toEqual({ kind: 'never' });
  });

  it('that closes its output and lives on has not ended', async () => {
    const { request, process } = await startShell(processes, 'echo first; exec >&- 2>&-; sleep 1.3; exit 3');
    const start = performance.now();
    const { end } = await followToEnd(processes, { folder: request.folder, process });
    expect(end).toEqual({ kind: 'ended', code: 3, signal: null });
    expect(performance.now() - start).toBeGreaterThan(1_000);
  });

  it('asked to stop, the agent gets the signal and its own status is written down', async () => {
    const { request, process } = await startShell(
      processes,
      'trap "echo asked; exit 42" INT TERM; echo ready; while :; do sleep 0.05; done',
    );
    await until(() => fs.readFileSync(path.join(request.folder, 'stdout.log'), 'utf8') === 'ready\n');
    expect(await processes.ask(process, 'SIGINT')).toBe(true);
    const { end, lines } = await followToEnd(processes, { folder: request.folder, process });
    expect(end).toEqual({ kind: 'ended', code: 42, signal: null });
    expect(lines.at(-1)?.text).toBe('asked');
    // Its end is written a moment before its runner is gone.
    await until(async () => !(await processes.ask(process, 'SIGINT')));
  });

  it('ended by a signal, its log holds its own words only', async () => {
    const { request, process } = await startShell(processes, '', {
      file: globalThis.process.execPath,
      args: ['-e', 'console.log("ready"); setInterval(() => 0, 1000)'],
    });
    await until(() => fs.readFileSync(path.join(request.folder, 'stdout.log'), 'utf8') === 'ready\n');
    await processes.ask(process, 'SIGTERM');
    const { end } = await followToEnd(processes, { folder: request.folder, process });
    expect(end).toEqual({ kind: 'ended', code: 143, signal: 'SIGTERM' });
    expect(fs.readFileSync(path.join(request.folder, 'stderr.log'), 'utf8')).toBe('');
  });

  it('gets signals as if nobody stood in between: none is ignored', async () => {
    const { request, process } = await startShell(
      processes,
      'grep -E "Sig(Ign|Cgt)" /proc/self/status; sleep 0',
    );
    const { lines } = await followToEnd(processes, { folder: request.folder, process });
    const ignored = lines.find((line) => line.text.startsWith('SigIgn'))?.text.split(/\s+/)[1] ?? '';
    expect(BigInt(`0x${ignored}`)).toBe(0n);
  });
});

describe('a process that is not the same', () => {
  it('is never signalled, though it has the number', async () => {
    const bystander = spawn('sleep', ['60'], { detached: true, stdio: 'ignore' });
    const pid = await until(() => bystander.pid);
    try {
      const stale = { pid, startTime: '1@00000000', nonce: 'long-gone' };
      expect(await processes.ask(stale, 'SIGTERM')).toBe(false);
      expect(await processes.kill(stale)).toBe(0);
      expect(isRunning(pid)).toBe(true);
    } finally {
      bystander.kill('SIGKILL');
    }
  });

  it('is not taken for the attempt', async () => {
    const { request, process } = await startShell(processes, 'sleep 60');
    const claim = path.join(request.folder, 'claim');
    const text = fs.readFileSync(claim, 'utf8');
    const bystander = spawn('sleep', ['60'], { detached: true, stdio: 'ignore' });
    const pid = await until(() => bystander.pid);
    fs.writeFileSync(claim, text.replace(/^\d+/, String(pid)));
    expect(await processes.find(request.folder)).toEqual({ kind: 'lost' });
    fs.writeFileSync(claim, text);
    expect(await processes.find(request.folder)).toEqual({ kind: 'alive', process });
    bystander.kill('SIGKILL');
    await processes.kill(process);
  });
});

describe('a killed attempt leaves nothing', () => {
  const cases: Readonly<Record<string, string>> = {
    'a plain child': 'sleep 300 & echo $! > one.pid; wait',
    'a tool in a session of its own':
      'setsid sleep 300 & sleep 0.2; pgrep -n -f "^sleep 300" > one.pid; sleep 300',
    'a daemonised grandchild': '(setsid sh -c "echo \\$\\$ > one.pid; exec sleep 300" &) ; sleep 300',
    'a detached retry loop':
      '(setsid sh -c "echo \\$\\$ > one.pid; while :; do sleep 0.05; done" >/dev/null 2>&1 &); sleep 300',
    'a loop that respawns itself':
      'cat > again.sh <<"E"\necho $$ > one.pid\nsleep 0.05\nsetsid sh again.sh &\nE\nsetsid sh again.sh & sleep 300',
    'a launcher that ignores signals':
      'trap "" TERM INT HUP; sh -c "echo \\$\\$ > one.pid; trap \\"\\" TERM INT; while :; do sleep 1; done"',
    'a daemon without environment, session and parent':
      '(setsid env -i /bin/sh -c "echo \\$\\$ > one.pid; sleep 300; true" &) ; sleep 300',
    'a child without the environment': 'env -i /bin/sh -c "echo \\$\\$ > one.pid; sleep 300; true" & wait',
  };
  it.each(Object.entries(cases))('%s', async (_name, text) => {
    const { request, process } = await startShell(processes, text);
    const pid = await pidIn(path.join(request.folder, 'one.pid'));
    expect(pid).toBeGreaterThan(1);
    expect(await processes.kill(process)).toBeGreaterThan(0);
    expect(await processes.survivors([request.nonce])).toEqual([]);
    expect(isRunning(process.pid)).toBe(false);
    if (!text.includes('again.sh')) expect(isRunning(pid)).toBe(false);
    // Whoever is left of a loop would show itself again.
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(await processes.survivors([request.nonce])).toEqual([]);
    expect(await processes.find(request.folder)).toMatchObject({ kind: 'ended', code: 137 });
  });

  it('also when its leader died before', async () => {
    const { request, process } = await startShell(processes, '(setsid sleep 300 &); sleep 300');
    await until(async () => (await processes.survivors([request.nonce])).length >= 4);
    globalThis.process.kill(process.pid, 'SIGKILL');
    await until(() => !isRunning(process.pid));
    expect(await processes.kill(process)).toBeGreaterThan(0);
    expect(await processes.survivors([request.nonce])).toEqual([]);
  });

  it('and spares the attempt beside it', async () => {
    const first = await startShell(processes, 'sleep 300');
    const second = await startShell(processes, 'sleep 300');
    await processes.kill(first.process);
    expect(await processes.find(second.request.folder)).toMatchObject({ kind: 'alive' });
    expect(
      (await processes.survivors([first.request.nonce, second.request.nonce])).map((one) => one.nonce),
    ).toContain(second.request.nonce);
    await processes.kill(second.process);
  });
});
