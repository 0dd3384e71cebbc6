import type { AgentEvent } from '../agents/agent.js';
import type { FollowedLine } from '../ports.js';
import { emptyCheckpoint, parseCheckpoint, type Checkpoint } from '../research/checkpoint.js';
import { checkpointJson, checkpointText, withoutSecrets } from '../research/report.js';
import { detailsOf, noteEvent, type EditLine } from '../research/research.js';
import type { Attempt } from './attempt.js';
import { isDiskError, isDiskFailing, messageOf, type EffectContext } from './context.js';
import { worksInTree } from './shared.js';
import { createSoon } from './soon.js';

/** Keeps the checkpoint of a child while one attempt works, on disk and towards the machine. */
export interface Recorder {
  /** What the line means was told to the machine by an earlier owner, and is in the journal. */
  wasTold(line: FollowedLine): boolean;
  /** `since`: the line was printed after that (epoch ms). */
  note(events: readonly AgentEvent[], line: FollowedLine, since: number): void;
  /** Something of rule 10 has happened; `take` gives it to the next report. */
  progressed(take: () => boolean): void;
  checkpoint(): Checkpoint;
  /** Everything noted so far is looked at, reported and on disk. */
  finish(): Promise<void>;
  dispose(): void;
}

/** The checkpoint of a child from its file, or an empty one. */
export async function loadCheckpoint(context: EffectContext, key: string): Promise<Checkpoint> {
  const child = context.state().children[key];
  const [batch = '', id = ''] = key.split('/');
  const text = await context.store.read(`batches/${batch}/children/${id}/checkpoint.json`);
  return parseCheckpoint(text) ?? emptyCheckpoint(batch, id, child?.task.title ?? id);
}

export async function recordOf(context: EffectContext, attempt: Attempt): Promise<Recorder> {
  const { key, number } = attempt;
  const [batch = '', id = ''] = key.split('/');
  const place = `batches/${batch}/children/${id}`;
  const loaded = await loadCheckpoint(context, key);
  const child = context.state().children[key];
  const sameAttempt = loaded.attempt === number;
  const told = child?.report.offsets.attempt === number ? child.report.offsets : { stdout: 0, stderr: 0 };
  const acknowledged = sameAttempt ? loaded.offsets : { stdout: 0, stderr: 0 };
  let known: Checkpoint = {
    ...loaded,
    attempt: number,
    base: child?.worktree?.base ?? loaded.base,
    session: loaded.session ?? child?.session ?? null,
    offsets: acknowledged,
  };
  const inTree = child !== undefined && worksInTree(context, child);
  const inShared = child !== undefined && context.state().batches[child.batch]?.isolation === 'shared';
  let chain: Promise<void> = Promise.resolve();
  let waiting: { readonly events: readonly AgentEvent[]; readonly line: FollowedLine }[] = [];
  let edits: (EditLine & { readonly tree?: 'own' })[] = [];
  let takeProgress: () => boolean = () => false;
  let reportedDetails = '';
  // Never backwards, whichever of the two was written last before a crash.
  const offsets = { ...acknowledged };

  const report = createSoon(
    context.clock,
    () => 500,
    () => {
      if (!context.mayAct()) return Promise.resolve();
      const shown = withoutSecrets(known);
      const details = detailsOf(shown);
      const text = JSON.stringify(details);
      context.post({
        type: 'reported',
        child: key,
        attempt: number,
        progress: takeProgress(),
        report: {
          read: known.read.length,
          written: known.written.length,
          input: known.tokens.input,
          cachedInput: known.tokens.cachedInput,
          output: known.tokens.output,
          lastLine: shown.lastLine,
          lastLineAt: known.lastLineAt,
          details: text === reportedDetails ? null : details,
          stdout: offsets.stdout,
          stderr: offsets.stderr,
        },
      });
      reportedDetails = text;
      return Promise.resolve();
    },
  );
  const save = createSoon(context.clock, saveSpan, async () => {
    const lines = edits;
    edits = [];
    const now = known;
    try {
      if (!context.mayAct()) return;
      if (lines.length > 0)
        await context.store.appendLines(
          `${place}/edits.jsonl`,
          lines.map((line) => JSON.stringify(line)),
        );
      await context.store.write(`${place}/checkpoint.md`, checkpointText(now));
      await context.store.write(`${place}/checkpoint.json`, checkpointJson(now));
    } catch (error) {
      edits = [...lines, ...edits];
      if (isDiskError(error)) context.diskFilled();
      else if (context.mayAct()) context.log.warn(`${key}: checkpoint not written: ${messageOf(error)}`);
    }
  });

  /** Many at once save more seldom: what a crash then cuts off is read again from their logs. */
  function saveSpan(): number {
    return Math.max(1000, 50 * context.attempts.size);
  }

  async function drain(): Promise<void> {
    const lines = waiting;
    waiting = [];
    const all = lines.flatMap(({ events }) => events);
    for (const { events, line } of lines) {
      for (const event of events) {
        if (inShared && !isOvertaken(event, all))
          await untilKnown(() => context.shared.observe(attempt, event));
        if (!context.mayAct()) return;
        const file = await fileOf(event);
        const noted = noteEvent(known, event, { at: context.clock.now(), folder: attempt.work, file });
        known = noted.checkpoint;
        // In a shared tree the ledger says more exactly whose an edit is.
        if (noted.edit !== null && !inTree)
          edits.push(inShared ? { ...noted.edit, tree: 'own' } : noted.edit);
      }
      offsets[line.stream] = line.end;
      known = { ...known, offsets: { ...offsets } };
    }
    if (lines.length === 0) return;
    report.want();
    save.want();
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

  function fileOf(event: AgentEvent) {
    return event.type === 'read' || event.type === 'write'
      ? context.fileState(attempt.work, event.path)
      : Promise.resolve(null);
  }

  // The checkpoint may be ahead of what the last owner had journaled.
  if (sameAttempt) report.want();

  return {
    wasTold: (line) => line.end <= told[line.stream],
    note(events, line, since) {
      if (line.end <= acknowledged[line.stream]) return;
      if (inShared) context.shared.hear(attempt, events, since);
      waiting.push({ events: events.filter((event) => event.type !== 'ignored'), line });
      if (waiting.length > 1) return;
      chain = chain.then(drain);
      context.track(`research ${key}`, chain);
    },
    progressed(take) {
      takeProgress = take;
      report.want();
    },
    checkpoint: () => known,
    async finish() {
      await chain;
      if (inShared) await untilKnown(() => context.shared.ended(attempt));
      report.want();
      save.want();
      await report.flush();
      await save.flush();
      report.dispose();
      save.dispose();
    },
    dispose() {
      report.dispose();
      save.dispose();
    },
  };
}

const diskPause = 1000;

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
