import { attemptPlace } from '../../protocol/places.js';
import { parseChildKey } from '../core/keys.js';
import { maySpawn } from '../core/gates.js';
import { randomUuid } from './ids.js';
import { adapters } from '../agents/index.js';
import type { Adapter, CommandLine, Executor, LaunchRequest } from '../agents/agent.js';
import type { Effect } from '../core/effect.js';
import type { Child, ChildKey, Launch, ProcessId } from '../core/state.js';
import type { Plan, PlannedTask } from '../manifest/plan.js';
import { redact } from '../verdict/redact.js';
import { followAttempt, type Attempt } from './attempt.js';
import { isDiskFailing, messageOf, plannedTask, sentences, type EffectContext } from './context.js';
import { childEnvironment, cleanEnvironment, resolveEnvironment } from './environment.js';
import { resolveProgram } from './prepare.js';
import { briefPrompt, firstPrompt, nextPrompt, resumePrompt } from './prompts.js';
import { changedSince } from './changedSince.js';
import { loadCheckpoint } from './recorder.js';
import { worksInTree } from './shared.js';

/** Starts an attempt, unless it was started before: then it is found and followed. */
export async function spawnAttempt(
  context: EffectContext,
  { child: key, launch }: Effect & { readonly type: 'spawn' },
): Promise<void> {
  if (context.attempts.get(key)?.number === launch.attempt) return;
  const child = context.state().children[key];
  if (child?.worktree === null || child === undefined) return;
  const fail = (message: string, disk: boolean) => {
    if (context.attempts.get(key)?.number === launch.attempt) context.attempts.delete(key);
    context.post({ type: 'spawnFailed', child: key, attempt: launch.attempt, message, disk });
  };
  try {
    const attempt = await registerAttempt(context, child, launch, null);
    if (attempt === null) return fail(`batch.json of ${child.batch} cannot be read`, false);
    const start = await startLine(context, child, launch, attempt);
    if (!context.mayAct()) return;
    if ('message' in start) return fail(start.message, start.disk);
    // A gate may have closed since the order was given. What was started before a crash is followed all the same.
    const closed =
      context.state().children[key]?.phase.name === 'running' &&
      !maySpawn(context.state(), key, launch.attempt);
    if (closed && (await context.processes.find(attempt.folder)).kind === 'never')
      return fail('Its gate has closed before it was started', false);
    if (!context.mayAct()) return;
    const outcome = await context.processes.start({
      folder: attempt.folder,
      file: start.file,
      args: start.args,
      env: start.env,
      cwd: attempt.work,
      stdin: start.line.stdin === 'prompt' ? start.promptFile : null,
      nonce: attempt.nonce,
    });
    if (!context.mayAct()) return;
    switch (outcome.kind) {
      case 'failed':
        return fail(outcome.message, outcome.disk);
      case 'started':
        return await confirm(context, attempt, outcome.process);
      case 'startedBefore':
        if (outcome.found.kind === 'alive') return await confirm(context, attempt, outcome.found.process);
        return await followAttempt(context, attempt);
      default:
        outcome satisfies never;
    }
  } catch (error) {
    const disk = await isDiskFailing(context, error);
    if (context.mayAct()) fail(messageOf(error), disk);
  }
}

/** After a restart: what has become of an attempt, and on with it if it lives. */
export async function adoptAttempt(
  context: EffectContext,
  { child: key, launch, process }: Effect & { readonly type: 'adopt' },
): Promise<void> {
  if (context.attempts.get(key)?.number === launch.attempt) return;
  const child = context.state().children[key];
  if (child === undefined) return;
  const attempt = await registerAttempt(context, child, launch, process);
  if (attempt === null || !context.mayAct()) return;
  const found = await context.processes.find(attempt.folder);
  if (!context.mayAct()) return;
  if (found.kind === 'alive') {
    attempt.process = found.process;
    context.post({ type: 'adopted', child: key, attempt: launch.attempt, process: found.process });
  }
  await followAttempt(context, attempt);
}

async function confirm(context: EffectContext, attempt: Attempt, process: ProcessId): Promise<void> {
  attempt.process = process;
  context.post({ type: 'spawned', child: attempt.key, attempt: attempt.number, process });
  await followAttempt(context, attempt);
  // Asked while it was being started: now there is something to ask.
  if (attempt.killAsked) await context.processes.kill(process);
  else if (attempt.stopAsked) await context.processes.ask(process, attempt.adapter.traits.stopSignal);
}

/** The attempt is known from before its process is, so that a second order or a stop finds it. */
async function registerAttempt(
  context: EffectContext,
  child: Child,
  launch: Launch,
  process: ProcessId | null,
): Promise<Attempt | null> {
  const { batch, id } = parseChildKey(child.key);
  const found = await executorOf(context, child);
  if (found === null || !context.mayAct()) return null;
  const folder = await context.store.attemptFolder(batch, id, launch.attempt);
  const nonce =
    process?.nonce ?? (await knownNonce(context, child.key, launch.attempt)) ?? context.random(16);
  const own = resolveEnvironment(context.env, found.executor);
  const attempt: Attempt = {
    key: child.key,
    number: launch.attempt,
    launch,
    adapter: found.adapter,
    folder,
    work: child.worktree?.path ?? context.repository.topLevel,
    env: { ...cleanEnvironment(context.env), ...(own.ok ? own.env : {}) },
    startedAt: context.clock.now(),
    nonce,
    process,
    stopAsked: false,
    killAsked: false,
    follower: null,
    recorder: null,
  };
  context.attempts.set(child.key, attempt);
  return attempt;
}

async function executorOf(
  context: EffectContext,
  child: Child,
): Promise<{ plan: Plan; task: PlannedTask; executor: Executor; adapter: Adapter } | null> {
  const planned = await plannedTask(context, child.key);
  const executor = planned?.plan.executors[child.task.chain[child.chosen]?.name ?? ''];
  const adapter = executor === undefined ? undefined : adapters[executor.adapter];
  return planned === null || executor === undefined || adapter === undefined
    ? null
    : { ...planned, executor, adapter };
}

type StartLine =
  | {
      readonly file: string;
      readonly args: readonly string[];
      readonly line: CommandLine;
      readonly env: Readonly<Record<string, string>>;
      readonly promptFile: string;
    }
  | { readonly message: string; readonly disk: boolean };

/** Writes the prompt and command.json, and says what to run. */
async function startLine(
  context: EffectContext,
  child: Child,
  launch: Launch,
  attempt: Attempt,
): Promise<StartLine> {
  const found = await executorOf(context, child);
  if (found === null) return { message: 'batch.json cannot be read', disk: false };
  const { plan, task, executor, adapter } = found;
  const program = await resolveProgram(context, executor, adapter);
  if (!program.ok) return { message: sentences(program), disk: false };
  const { batch, id } = parseChildKey(child.key);
  const place = attemptPlace(batch, id, launch.attempt);
  const request: Omit<LaunchRequest, 'prompt'> = {
    executor: { ...executor, command: [program.file, ...executor.command.slice(1)] },
    folder: attempt.work,
    promptFile: `${attempt.folder}/prompt.txt`,
    checkpointFile: `${context.store.childFolder(batch, id)}/checkpoint.md`,
    newSessionId: randomUuid(context.random),
    check: task.check ?? context.state().batches[batch]?.check ?? null,
    keepsPath: worksInTree(context, child),
  };
  const session = launch.how === 'session' ? child.session : null;
  const canResume =
    session !== null &&
    adapter.resumeLine({ ...request, prompt: '' }, session) !== null &&
    (adapter.traits.resumeElsewhere === 'new' ||
      !(await wasElsewhere(context, child.key, launch.attempt, attempt.work)));
  const how = launch.how === 'session' && !canResume ? 'brief' : launch.how;
  const prompt = await promptFor(context, child, plan, task, how);
  const whole: LaunchRequest = { ...request, prompt };
  const line =
    (how === 'session' && session !== null ? adapter.resumeLine(whole, session) : null) ??
    adapter.commandLine(whole);
  const run = throughHelper(context, line);
  if (run === null) return { message: `This Swarm Panel lacks its program for ${adapter.name}`, disk: false };
  const env = childEnvironment(context.env, line, executor, {
    batch,
    child: id,
    attempt: launch.attempt,
    nonce: attempt.nonce,
  });
  if (!env.ok) return { message: `The environment variable ${env.missing} is not set`, disk: false };
  const placed = { ...(await context.shared.environment(child, env.env)), ...run.env };
  await context.store.write(`${place}/prompt.txt`, prompt);
  await context.store.write(
    `${place}/command.json`,
    commandText({
      executor,
      line,
      prompt,
      folder: attempt.work,
      nonce: attempt.nonce,
      file: program.file,
      how,
    }),
  );
  return { file: run.file, args: run.args, line, env: placed, promptFile: request.promptFile };
}

/** The line itself, or our program that starts it; null where that is not there. */
function throughHelper(
  context: Pick<EffectContext, 'helpers'>,
  line: CommandLine,
): Pick<CommandLine, 'file' | 'args' | 'env'> | null {
  if (line.helper === undefined) return { file: line.file, args: line.args, env: {} };
  const helper = context.helpers?.[line.helper.name];
  if (helper === undefined) return null;
  const program = line.file === '' ? [] : ['--', line.file, ...line.args];
  return { file: helper.file, args: [...helper.args, ...line.helper.args, ...program], env: helper.env };
}

async function promptFor(
  context: EffectContext,
  child: Child,
  plan: Plan,
  task: PlannedTask,
  how: Launch['how'],
): Promise<string> {
  if (how === 'first' && child.nextPrompt === null) return firstPrompt(plan, task);
  const known = await loadCheckpoint(context, child.key);
  const since = await changedSince(context, child, known);
  if (child.nextPrompt !== null) return nextPrompt(child.nextPrompt, known, how !== 'session', since);
  const pause = child.history.findLast((stretch) => stretch.kind === 'paused')?.reason ?? null;
  const why = pause === null ? null : { reason: pause };
  return how === 'session' ? resumePrompt(known, why, since) : briefPrompt(plan, task, known, why, since);
}

/** What was run, for people: names of variables, never values; the prompt is in its own file. */
function commandText(command: {
  readonly executor: Executor;
  readonly line: CommandLine;
  readonly prompt: string;
  readonly folder: string;
  readonly nonce: string;
  readonly file: string;
  readonly how: Launch['how'];
}): string {
  const { executor, line, prompt } = command;
  const value = {
    schema: 1,
    executor: executor.name,
    adapter: executor.adapter,
    how: command.how,
    file: command.file,
    args: line.args.map((arg) => (arg === prompt ? '<prompt.txt>' : redact(arg))),
    cwd: command.folder,
    stdin: line.stdin,
    env: [...new Set([...Object.keys(line.env), ...Object.keys(executor.env)])].sort(),
    nonce: command.nonce,
  };
  return `${JSON.stringify(value, null, 2)}\n`;
}

/**
 * Whether the last attempt worked in another folder. Agents that insist on a session's first folder would go on
 * where the child's work is no longer.
 */
async function wasElsewhere(
  context: EffectContext,
  key: ChildKey,
  attempt: number,
  folder: string,
): Promise<boolean> {
  const { batch, id } = parseChildKey(key);
  for (let n = attempt - 1; n > 0; n--) {
    const text = await context.store.read(`${attemptPlace(batch, id, n)}/command.json`);
    if (text === null) continue;
    const command = JSON.parse(text) as { readonly cwd?: unknown };
    return command.cwd !== folder;
  }
  return false;
}

/** An attempt that was ordered before keeps its nonce: what it started may carry it. */
async function knownNonce(context: EffectContext, key: ChildKey, attempt: number): Promise<string | null> {
  const { batch, id } = parseChildKey(key);
  const text = await context.store.read(`${attemptPlace(batch, id, attempt)}/command.json`);
  const nonce = text === null ? null : /"nonce": "([0-9a-f]+)"/.exec(text)?.[1];
  return nonce ?? null;
}
