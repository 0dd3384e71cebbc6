import fs from 'node:fs';
import path from 'node:path';
import type { Answer, Request } from '../../../src/protocol/request.js';
import type { BatchView, View } from '../../../src/protocol/view.js';
import { openSupervisor } from '../../../src/supervisor/supervisor.js';
import { createWorldOptions } from '../../process/support/worldOptions.js';

/**
 * A whole story with one owner: a batch in worktrees whose account meets a limit, its work applied; then one in the
 * shared tree, whose paused child is quarantined and its work applied. It can be killed anywhere and started again.
 * Says on stdout what was acknowledged before it does the next thing. Arguments: repository, root, memory.
 */
async function main(folder: string, root: string, memory: string): Promise<void> {
  const passed = ['LD_PRELOAD', 'TEST_SHIM'].flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  const options = createWorldOptions({
    folder,
    root,
    memory,
    settings: {},
    env: Object.fromEntries(passed),
    log: (line) => say(`log ${line}`),
  });
  const supervisor = await untilOpened(options);
  let view = supervisor.view();
  let told = '';
  let waiting: (() => void)[] = [];
  supervisor.onView((next) => {
    view = next;
    const line = draw(next);
    if (line !== told) say(`view ${line}`);
    told = line;
    for (const go of waiting.splice(0)) go();
  });
  const until = async (condition: () => boolean): Promise<void> => {
    while (!condition())
      await new Promise<void>((go) => {
        waiting.push(go);
      });
  };
  const request = async (wanted: Request): Promise<void> => {
    for (;;) {
      const answer = await supervisor.request(wanted);
      if (answer.ok) return;
      say(`refused ${wanted.type} ${answer.code} ${wordsOf(answer)}`);
      if (answer.code !== 3) throw new Error(wordsOf(answer));
      await new Promise((go) => setTimeout(go, 300));
    }
  };
  const batch = (name: string): BatchView | undefined => view.batches.find((one) => one.name === name);

  for (const [name, isolation, tasks] of [
    ['alone', 'worktree', ['a1', 'a2', 'a3']],
    ['together', 'shared', ['s1', 's2']],
  ] as const) {
    if (batch(name) === undefined) {
      await request(launch(name, isolation, tasks, path.join(root, 'agent.sh')));
      say(`ack launch ${name}`);
      await until(() => batch(name) !== undefined);
    }
    await until(() => batch(name)?.children.every((child) => child.status === 'done') === true);
    say(`ack done ${name}`);
    for (;;) {
      const open = (batch(name)?.children ?? []).filter((child) => child.apply?.state !== 'applied');
      if (open.length === 0) break;
      await supervisor.settled();
      await request({
        type: 'apply',
        targets: open.map((child) => ({ batch: batch(name)?.id ?? '', child: child.id })),
      });
      await supervisor.settled();
      view = supervisor.view();
      const left = (batch(name)?.children ?? []).filter((child) => child.apply?.state !== 'applied');
      if (left.length > 0) {
        say(`again apply ${left.map((child) => `${child.id}:${JSON.stringify(child.apply)}`).join(' ')}`);
        await new Promise((go) => setTimeout(go, 300));
      }
    }
    say(`ack applied ${name}`);
  }
  waiting = [];
  await supervisor.close({ stopAgents: false });
  say('end');
}

async function untilOpened(options: Parameters<typeof openSupervisor>[0]) {
  for (;;) {
    const opened = await openSupervisor(options).catch((error: unknown) => ({
      ok: false as const,
      message: `threw ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
    }));
    if (opened.ok) return opened.supervisor;
    say(`closed ${opened.message}`);
    await new Promise((go) => setTimeout(go, 300));
  }
}

function launch(name: string, isolation: string, tasks: readonly string[], agent: string): Request {
  const manifest = {
    version: 1,
    name,
    isolation,
    executors: {
      one: { adapter: 'command', command: ['/bin/sh', agent] },
      two: { adapter: 'command', command: ['/bin/sh', agent] },
    },
    maxConcurrent: 2,
    check: null,
    policy: { margin: '100ms' },
    tasks: tasks.map((id) => ({ id, prompt: `make ${id}`, executor: id === 's2' ? 'two' : 'one' })),
  };
  return {
    type: 'launch',
    manifest: { kind: 'json', text: JSON.stringify(manifest), name: `${name}.json` },
    consent: true,
  };
}

function draw(view: View): string {
  return view.batches
    .flatMap((batch) => batch.children)
    .map((child) => {
      const reason = child.reason === null || child.status === 'done' ? '' : `(${child.reason.class})`;
      const asks = child.reason?.needsUser === true && child.status === 'paused' ? '!' : '';
      return `${child.id}:${child.status}${reason}${asks}`;
    })
    .join(' ');
}

function wordsOf(answer: Answer): string {
  return answer.ok ? '' : answer.errors.map((error) => error.message).join('; ');
}

function say(line: string): void {
  fs.writeSync(1, `${line.replaceAll('\n', ' | ')}\n`);
}

const [folder = '', root = '', memory = ''] = process.argv.slice(2);
await main(folder, root, memory);
