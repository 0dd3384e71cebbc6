import { childPlace } from '../../protocol/places.js';
import type { AgentEvent } from '../agents/agent.js';
import { parseChildKey, userName } from '../core/keys.js';
import { strayWords } from '../core/strayWords.js';
import type { FollowedLine } from '../ports.js';
import { emptyCheckpoint, parseCheckpoint, type Checkpoint } from '../research/checkpoint.js';
import { redact } from '../verdict/redact.js';
import { checkpointJson, checkpointText, withoutSecrets } from '../research/report.js';
import { detailsOf, Notes, type EditLine } from '../research/research.js';
import type { DetailsView } from '../../protocol/view.js';
import type { Attempt } from './attempt.js';
import { isDiskError, isDiskFailing, messageOf, type EffectContext } from './context.js';
import { worksInTree } from './shared.js';
import { createSoon, untilBeat } from './soon.js';
import { mayStray, straysOf } from './strays.js';

/** Keeps the checkpoint of a child while one attempt works, on disk and towards the machine. */
export interface Recorder {
  /** What the line means was told to the machine by an earlier owner, and is in the journal. */
  wasTold(line: FollowedLine): boolean;
  /** `since`: all of it was printed after that (epoch ms). */
  note(heard: readonly HeardLine[], since: number): void;
  /** Something of rule 10 has happened; `take` gives it to the next report. */
  progressed(take: () => boolean): void;
  checkpoint(): Checkpoint;
  /** Everything noted so far is looked at, reported and on disk. */
  finish(): Promise<void>;
  dispose(): void;
}

/** A line and what it says. */
export interface HeardLine {
  readonly events: readonly AgentEvent[];
  readonly line: FollowedLine;
}

/** How often a child's counts and last line are told, all children's on the same beat. */
const reportEvery = 500;
/** Decisions and lists of files are told less often where many talk. */
const slowestDetails = 2000;
/** Decisions that are shown. */
const decisionsShown = 5;

/** The checkpoint of a child from its file, or an empty one. */
export async function loadCheckpoint(context: EffectContext, key: string): Promise<Checkpoint> {
  const child = context.state().children[key];
  const { batch, id } = parseChildKey(key);
  const text = await context.store.read(`${childPlace(batch, id)}/checkpoint.json`);
  return parseCheckpoint(text) ?? emptyCheckpoint(batch, id, child?.task.title ?? id);
}

export async function recordOf(context: EffectContext, attempt: Attempt): Promise<Recorder> {
  const { key, number } = attempt;
  const { batch, id } = parseChildKey(key);
  const place = childPlace(batch, id);
  const loaded = await loadCheckpoint(context, key);
  const child = context.state().children[key];
  const sameAttempt = loaded.attempt === number;
  const told = child?.report.offsets.attempt === number ? child.report.offsets : { stdout: 0, stderr: 0 };
  const acknowledged = sameAttempt ? loaded.offsets : { stdout: 0, stderr: 0 };
  const notes = new Notes({
    ...loaded,
    attempt: number,
    base: child?.worktree?.base ?? loaded.base,
    session: loaded.session ?? child?.session ?? null,
    offsets: acknowledged,
  });
  const inTree = child !== undefined && worksInTree(context, child);
  const inShared = child !== undefined && context.state().batches[child.batch]?.isolation === 'shared';
  let chain: Promise<void> = Promise.resolve();
  let waiting: HeardLine[] = [];
  let draining = false;
  /** Since when the last command that was begun runs, and each that has ended ran; null: not known. */
  let commandSince: number | null = null;
  const ranSince = new WeakMap<AgentEvent, number | null>();
  let edits: (EditLine & { readonly tree?: 'own' })[] = [];
  let takeProgress: () => boolean = () => false;
  let detailsDue = true;
  let reportedDetails = '';
  /** Offsets that were told last; nothing new was said since where they are the same. */
  let reportedUntil = '';
  // Never backwards, whichever of the two was written last before a crash.
  const offsets = { ...acknowledged };

  const known = (): Checkpoint => ({ ...notes.checkpoint(), offsets: { ...offsets } });

  const report = createSoon(
    context.clock,
    (last) => untilBeat(last, reportEvery),
    () => {
      if (!context.mayAct()) return Promise.resolve();
      // The newest line is told, not the one that was the newest at the last look.
      attempt.follower?.catchUp();
      const progress = takeProgress();
      const until = `${offsets.stdout} ${offsets.stderr}`;
      const now = known();
      const fresh = detailsDue ? newDetails(now) : null;
      if (until === reportedUntil && !progress && fresh === null) return Promise.resolve();
      reportedUntil = until;
      context.post({
        type: 'reported',
        child: key,
        attempt: number,
        progress,
        report: {
          read: now.read.length,
          written: now.written.length,
          input: now.tokens.input,
          cachedInput: now.tokens.cachedInput,
          output: now.tokens.output,
          lastLine: redact(now.lastLine),
          lastLineAt: now.lastLineAt,
          details: fresh,
          stdout: offsets.stdout,
          stderr: offsets.stderr,
        },
      });
      return Promise.resolve();
    },
  );
  const details = createSoon(
    context.clock,
    (last) => untilBeat(last, Math.min(slowestDetails, reportEvery * Math.ceil(context.attempts.size / 25))),
    () => {
      detailsDue = true;
      report.want();
      return Promise.resolve();
    },
  );
  const save = createSoon(context.clock, saveSpan, async () => {
    const lines = edits;
    edits = [];
    const now = known();
    try {
      if (!context.mayAct()) return;
      if (lines.length > 0)
        await context.store.appendLines(
          `${place}/edits.jsonl`,
          lines.map((line) => JSON.stringify({ ...line, path: redact(line.path) })),
        );
      await context.store.write(`${place}/checkpoint.md`, checkpointText(now));
      await context.store.write(`${place}/checkpoint.json`, checkpointJson(now));
    } catch (error) {
      edits = [...lines, ...edits];
      if (isDiskError(error)) context.diskFilled();
      else if (context.mayAct()) context.log.warn(`${key}: checkpoint not written: ${messageOf(error)}`);
    }
  });

  /** Details where they are others than the last. */
  function newDetails(now: Checkpoint): DetailsView | null {
    detailsDue = false;
    const shown = detailsOf(withoutSecrets({ ...now, decisions: now.decisions.slice(-decisionsShown) }));
    const text = JSON.stringify(shown);
    if (text === reportedDetails) return null;
    reportedDetails = text;
    return shown;
  }

  /** Many at once save more seldom: what a crash then cuts off is read again from their logs. */
  function saveSpan(): number {
    return Math.max(1000, 200 * context.attempts.size);
  }

  function wantAll(): void {
    report.want();
    details.want();
    save.want();
  }

  /** Notes what waits, as far as no file and no ledger must be looked at first. */
  function noteAtOnce(): void {
    let done = 0;
    for (const { events, line } of waiting) {
      if (inShared || events.some((event) => namesFile(event) || mayStray(context, attempt, event))) break;
      const at = context.clock.now();
      for (const event of events) notes.note(event, { at, folder: attempt.work, file: null });
      offsets[line.stream] = line.end;
      done += 1;
    }
    if (done === 0) return;
    waiting = waiting.slice(done);
    wantAll();
  }

  async function drain(): Promise<void> {
    while (waiting.length > 0) {
      const lines = waiting;
      waiting = [];
      const all = inShared ? lines.flatMap(({ events }) => events) : [];
      for (const { events, line } of lines) {
        for (const event of events) {
          if (inShared && !isOvertaken(event, all))
            await untilKnown(() => context.shared.observe(attempt, event));
          await tellStrays(event);
          if (!context.mayAct()) return;
          const file = namesFile(event) ? await context.fileState(attempt.work, event.path) : null;
          const edit = notes.note(event, { at: context.clock.now(), folder: attempt.work, file });
          // In a shared tree the ledger says more exactly whose an edit is.
          if (edit !== null && !inTree) edits.push(inShared ? { ...edit, tree: 'own' } : edit);
        }
        offsets[line.stream] = line.end;
      }
      wantAll();
    }
    draining = false;
  }

  /** What it writes in others' trees; of the shared one the ledger knows better. */
  async function tellStrays(event: AgentEvent): Promise<void> {
    if (!mayStray(context, attempt, event)) return;
    const strays = (await straysOf(context, attempt, event, ranSince.get(event) ?? null)).filter(
      ({ who }) => who !== userName || !inShared,
    );
    if (strays.length === 0 || !context.mayAct()) return;
    for (const stray of strays) context.log.warn(`${key} ${strayWords(stray)}`);
    context.post({ type: 'strayed', child: key, strays });
  }

  /**
   * Whose an edit is must be known before anything else of the child is believed: on a full disk this waits. What
   * cannot be found out for another reason is said, and the child goes on without it.
   */
  async function untilKnown(look: () => Promise<void>): Promise<void> {
    while (context.mayAct())
      try {
        return await look();
      } catch (error) {
        if (!(await isDiskFailing(context, error))) {
          context.log.error(`${key}: whose edits these are could not be found out: ${messageOf(error)}`);
          return;
        }
        context.diskFilled();
        await new Promise<void>((goOn) => {
          context.clock.timer(context.clock.now() + diskPause, goOn);
        });
      }
  }

  // The checkpoint may be ahead of what the last owner had journaled.
  if (sameAttempt) report.want();

  function dispose(): void {
    report.dispose();
    details.dispose();
    save.dispose();
  }

  return {
    wasTold: (line) => line.end <= told[line.stream],
    note(heard, since) {
      for (const one of heard) {
        const { events, line } = one;
        if (line.end <= acknowledged[line.stream]) continue;
        if (inShared) context.shared.hear(attempt, events, since);
        for (const event of events)
          if (event.type === 'shellStarted') commandSince = since === 0 ? null : since;
          else if (event.type === 'shell') ranSince.set(event, commandSince);
        waiting.push(one);
      }
      if (draining) return;
      noteAtOnce();
      if (waiting.length === 0) return;
      draining = true;
      chain = chain.then(drain);
      context.track(`research ${key}`, chain);
    },
    progressed(take) {
      takeProgress = take;
      report.want();
    },
    checkpoint: known,
    async finish() {
      await chain;
      if (inShared) await untilKnown(() => context.shared.ended(attempt));
      detailsDue = true;
      report.want();
      save.want();
      await report.flush();
      await save.flush();
      dispose();
    },
    dispose,
  };
}

const diskPause = 1000;

type FileEvent = Extract<AgentEvent, { readonly type: 'read' | 'write' }>;

/** The file is looked at before the event is noted. */
function namesFile(event: AgentEvent): event is FileEvent {
  return event.type === 'read' || event.type === 'write';
}

/**
 * An announcement that is read together with what it announced comes too late: what it wanted to be looked at before
 * has been done since.
 */
function isOvertaken(event: AgentEvent, all: readonly AgentEvent[]): boolean {
  const later = all.slice(all.indexOf(event) + 1);
  if (event.type === 'writing')
    return later.some((other) => other.type === 'write' && other.path === event.path);
  return event.type === 'shellStarted' && later.some((other) => other.type === 'shell');
}
