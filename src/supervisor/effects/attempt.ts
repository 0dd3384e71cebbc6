import type { Adapter, AgentEvent } from '../agents/agent.js';
import type { Exit } from '../core/event.js';
import type { ChildKey, Launch, ProcessId } from '../core/state.js';
import type { FollowedLine, Follower, Found } from '../ports.js';
import { holdsSecret, redact } from '../verdict/redact.js';
import { isProgress } from '../research/research.js';
import { recordOf, type Recorder } from './recorder.js';
import { messageOf, type EffectContext } from './context.js';
import { endVerdict, heardVerdict, type Saying } from './sayings.js';

/** A process that works on a child, as far as this owner knows it. */
export interface Attempt {
  readonly key: ChildKey;
  readonly number: number;
  readonly launch: Launch;
  readonly adapter: Adapter;
  /** The attempt's folder below `.swarm`. */
  readonly folder: string;
  /** Where the child works. */
  readonly work: string;
  /** What the agent's own files are found by. */
  readonly env: Readonly<Record<string, string>>;
  readonly startedAt: number;
  readonly nonce: string;
  process: ProcessId | null;
  stopAsked: boolean;
  killAsked: boolean;
  follower: Follower | null;
  recorder: Recorder | null;
}

/**
 * Reads what an attempt has printed and prints, from the first byte: the parser needs all of it, but what the
 * checkpoint already holds is not counted again. Its end becomes `exited`, after everything it said.
 */
export async function followAttempt(context: EffectContext, attempt: Attempt): Promise<void> {
  const recorder = await recordOf(context, attempt);
  if (!context.mayAct() || attempt.follower !== null) return;
  attempt.recorder = recorder;
  const parser = attempt.adapter.parser();
  const said: Saying[] = [];
  const stderr: string[] = [];
  let result = '';
  let done: boolean | null = null;
  let progress = false;
  let secretSession = false;

  const onEvent = (event: AgentEvent, line: FollowedLine) => {
    const known = recorder.wasTold(line);
    if (!known && isProgress(event)) progress = true;
    if (event.type === 'done') {
      done = event.ok;
      result = event.result;
      said.push({ kind: 'done', ok: event.ok });
    } else if (event.type === 'text' && done === null) result = event.text;
    else if (event.type === 'session') learnSession(context, attempt, event.id);
    else if (event.type === 'signal') {
      const saying: Saying = { kind: 'signal', signal: event.signal, final: event.final };
      const heard = heardVerdict(context, saying, said);
      said.push(heard === null ? saying : { ...saying, verdict: heard });
      if (heard !== null && !known)
        context.post({ type: 'limitHeard', child: attempt.key, attempt: attempt.number, verdict: heard });
    }
  };
  const onLines = (lines: readonly FollowedLine[], since: number) => {
    if (!context.mayAct()) return;
    const heard = lines.map((line) => {
      if (line.stream === 'stderr') keepTail(stderr, line.text);
      const events = parser.push(line).map(withoutSecretSession);
      for (const event of events) onEvent(event, line);
      return { events, line };
    });
    recorder.note(heard, since);
    // Whoever works says so within half a second; the counts follow when the files are looked at.
    if (progress) recorder.progressed(() => takeProgress());
  };
  /** It would have to be stored as it is to be of use: then the child goes on by its brief. */
  const withoutSecretSession = (event: AgentEvent): AgentEvent => {
    if (event.type !== 'session' || !holdsSecret(event.id)) return event;
    if (!secretSession)
      context.log.warn(`${attempt.key}: its session id looks like a secret and is not kept`);
    secretSession = true;
    return { type: 'ignored' };
  };
  const takeProgress = () => {
    const taken = progress;
    progress = false;
    return taken;
  };

  const follower = context.processes.follow({
    folder: attempt.folder,
    process: attempt.process,
    stdout: 0,
    stderr: 0,
    onLines,
  });
  attempt.follower = follower;
  context.watch(
    `follow ${attempt.key}`,
    follower.exited.then((found) => context.track(`end ${attempt.key}`, end(found))),
  );

  async function end(found: Found): Promise<void> {
    if (!context.mayAct()) return;
    await sweep(context, attempt);
    // Whatever cannot be read or written on the way: that it has ended is told.
    await orLog(context, attempt, findSession(context, attempt));
    await orLog(context, attempt, recorder.finish());
    said.push(...((await orLog(context, attempt, sessionLimits(context, attempt, said))) ?? []));
    if (!context.mayAct()) return;
    const exit = exitOf(context, attempt, found);
    const verdict = endVerdict(context, said, stderr.join('\n'), exit, attempt.adapter.name);
    const finished: boolean | null = done;
    if (context.attempts.get(attempt.key) === attempt) context.attempts.delete(attempt.key);
    context.post({
      type: 'exited',
      child: attempt.key,
      attempt: attempt.number,
      exit,
      verdict,
      result: redact(result.slice(0, 4000)),
      done: finished === true && verdict.class === 'none',
      progress: takeProgress(),
    });
  }
}

async function orLog<T>(context: EffectContext, attempt: Attempt, work: Promise<T>): Promise<T | null> {
  try {
    return await work;
  } catch (error) {
    context.log.error(`${attempt.key}: at its end: ${messageOf(error)}`);
    return null;
  }
}

/** Tools run in sessions of their own; what is left of an attempt would go on writing behind everybody's back. */
async function sweep(context: EffectContext, attempt: Attempt): Promise<void> {
  try {
    const left = await context.processes.survivors([attempt.nonce]);
    if (left.length === 0) return;
    const first = left[0];
    const process = attempt.process ?? {
      pid: first?.pid ?? 0,
      startTime: '',
      nonce: attempt.nonce,
    };
    const killed = await context.processes.kill(process);
    context.log.info(
      `${attempt.key}: ${killed} left-over processes of attempt ${attempt.number} were killed`,
    );
  } catch (error) {
    context.log.warn(`${attempt.key}: left-over processes could not be looked for: ${String(error)}`);
  }
}

function learnSession(context: EffectContext, attempt: Attempt, session: string): void {
  if (session === '' || holdsSecret(session) || context.state().children[attempt.key]?.session === session)
    return;
  context.post({ type: 'sessionLearned', child: attempt.key, attempt: attempt.number, session });
}

/** Some agents tell their session only in a file of theirs. */
async function findSession(context: EffectContext, attempt: Attempt): Promise<void> {
  const index = attempt.adapter.sessionIndex;
  if (index === undefined) return;
  const text = await context.readText(index.file(attempt.env));
  if (text === null || !context.mayAct()) return;
  const session = index.find(text, attempt.work, attempt.startedAt);
  if (session !== null) learnSession(context, attempt, session);
}

/** What the agent's own log of the session says of a limit that its stream told in prose only. */
async function sessionLimits(
  context: EffectContext,
  attempt: Attempt,
  said: readonly Saying[],
): Promise<readonly Saying[]> {
  const log = attempt.adapter.sessionLog;
  const session = context.state().children[attempt.key]?.session ?? null;
  const last = said.findLast((saying) => saying.kind === 'done' || saying.final);
  if (log === undefined || session === null || last === undefined) return [];
  if (last.kind === 'done' && last.ok) return [];
  const file = await context.findFile(log.folder(attempt.env), (path) => log.isLog(path, session));
  const text = file === null ? null : await context.readText(file);
  if (text === null || !context.mayAct()) return [];
  return log
    .limits(text)
    .flatMap((event) =>
      event.type === 'signal' ? [{ kind: 'signal', signal: event.signal, final: event.final } as const] : [],
    );
}

function exitOf(context: EffectContext, attempt: Attempt, found: Found): Exit {
  const phase = context.state().children[attempt.key]?.phase.name;
  const asked = attempt.stopAsked || attempt.killAsked || phase === 'parking' || phase === 'stopping';
  return found.kind === 'ended'
    ? { kind: 'exited', code: found.code, signal: found.signal, asked }
    : { kind: 'lost', code: null, signal: null, asked };
}

const longestTail = 60;

function keepTail(tail: string[], text: string): void {
  if (text.trim() === '') return;
  tail.push(text.slice(0, 2000));
  if (tail.length > longestTail) tail.shift();
}
