import { spawn } from 'node:child_process';
import { closeSync, openSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type {
  Adapter,
  AgentEvent,
  CommandLine,
  Executor,
  LaunchRequest,
  OutputLine,
} from '../../src/supervisor/agents/agent.js';
import { adapters } from '../../src/supervisor/agents/index.js';

export interface Attempt {
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly lines: readonly OutputLine[];
  readonly events: readonly AgentEvent[];
  readonly ms: number;
}

export interface AttemptOptions {
  readonly executor: Executor;
  readonly folder: string;
  readonly prompt: string;
  /** Where prompt and checkpoint files go. */
  readonly scratch: string;
  readonly session?: string;
  readonly newSessionId?: string;
  readonly check?: readonly string[];
}

/** Runs one attempt of a real agent to its end, as the adapter says it, and reads what it prints. */
export async function runAttempt(options: AttemptOptions): Promise<Attempt> {
  const adapter = adapterOf(options.executor.adapter);
  const request = launchRequest(options);
  const line =
    options.session === undefined
      ? adapter.commandLine(request)
      : adapter.resumeLine(request, options.session);
  if (line === null) throw new Error(`${adapter.name} does not resume`);
  const started = Date.now();
  const { lines, exitCode, signal } = await runLine(
    line,
    options.executor,
    options.folder,
    request.promptFile,
  );
  const parser = adapter.parser();
  return {
    exitCode,
    signal,
    lines,
    events: lines.flatMap((entry) => parser.push(entry)),
    ms: Date.now() - started,
  };
}

export function adapterOf(name: string): Adapter {
  const adapter = adapters[name];
  if (adapter === undefined) throw new Error(`no adapter ${name}`);
  return adapter;
}

function launchRequest(options: AttemptOptions): LaunchRequest {
  const promptFile = path.join(options.scratch, `prompt-${process.hrtime.bigint()}.md`);
  writeFileSync(promptFile, options.prompt, { mode: 0o600 });
  return {
    executor: options.executor,
    folder: options.folder,
    prompt: options.prompt,
    promptFile,
    checkpointFile: path.join(options.scratch, 'checkpoint.md'),
    newSessionId: options.newSessionId ?? crypto.randomUUID(),
    check: options.check ?? null,
  };
}

function runLine(
  line: CommandLine,
  executor: Executor,
  folder: string,
  promptFile: string,
): Promise<Omit<Attempt, 'events' | 'ms'>> {
  const stdin = line.stdin === 'prompt' ? openSync(promptFile, 'r') : null;
  // Nothing of our own environment but the way to the programs.
  const env = { PATH: process.env['PATH'], ...line.env, ...executor.env };
  const child = spawn(line.file, line.args, { cwd: folder, env, stdio: [stdin ?? 'ignore', 'pipe', 'pipe'] });
  if (stdin !== null) closeSync(stdin);
  const lines: OutputLine[] = [];
  const collect = (stream: 'stdout' | 'stderr') => {
    let rest = '';
    child[stream]?.setEncoding('utf8').on('data', (text: string) => {
      const parts = (rest + text).split('\n');
      rest = parts.pop() ?? '';
      for (const part of parts) lines.push({ stream, text: part });
    });
    child[stream]?.on('end', () => {
      if (rest !== '') lines.push({ stream, text: rest });
    });
  };
  collect('stdout');
  collect('stderr');
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (exitCode, signal) => resolve({ exitCode, signal, lines }));
  });
}
