import { z } from 'zod';
import type { Problem } from '../../../protocol/view.js';
import type { Event, Stamped } from '../../core/event.js';
import { eventIn, type RawRecord } from './record.js';
import * as p from './parts.js';

const ofAttempt = { child: p.key, attempt: p.count };
const ofChildren = z.object({ children: p.keys });
const ofChild = z.object({ child: p.key });
const ofBatch = z.object({ batch: p.key });
const nothing = z.object({});

/** What each event must have for the machine to work on it. */
const schemas: Readonly<Record<Event['type'], z.ZodType>> = {
  opened: z.object({ owner: p.owner, version: p.text }),
  settingsChanged: z.object({ settings: p.settings }),
  batchLaunched: z.object({ batch: p.batch, tasks: z.array(p.task).min(1) }),
  batchRemoved: ofBatch,
  prepared: z.object({ ...ofAttempt, place: p.place }),
  prepareFailed: z.object({
    ...ofAttempt,
    failure: z.object({ kind: p.text, message: p.text }),
  }),
  spawned: z.object({ ...ofAttempt, process: p.processId }),
  spawnFailed: z.object({ ...ofAttempt, message: p.text, disk: p.flag }),
  sessionLearned: z.object({ ...ofAttempt, session: p.text }),
  reported: z.object({
    ...ofAttempt,
    progress: p.flag,
    report: z.object({
      read: p.count,
      written: p.count,
      input: z.number(),
      cachedInput: z.number(),
      output: z.number(),
      lastLine: p.text,
      lastLineAt: p.nullableInstant,
      details: p.details.nullable(),
      stdout: p.count,
      stderr: p.count,
    }),
  }),
  limitHeard: z.object({ ...ofAttempt, verdict: p.verdict }),
  exited: z.object({
    ...ofAttempt,
    exit: z.object({
      kind: z.enum(['exited', 'lost']),
      code: p.count.nullable(),
      signal: p.nullableText,
      asked: p.flag,
    }),
    verdict: p.verdict,
    result: p.text,
    progress: p.flag,
  }),
  adopted: z.object({ ...ofAttempt, process: p.processId }),
  snapshotTaken: z.object({
    child: p.key,
    n: p.count,
    ref: p.text,
    commit: p.text,
    files: p.count.optional(),
  }),
  snapshotFailed: z.object({ child: p.key, message: p.text, disk: p.flag }),
  uncaptured: z.object({
    child: p.key,
    paths: z.array(z.object({ path: p.text, reason: p.text })),
  }),
  strayed: z.object({
    child: p.key,
    strays: z.array(z.object({ path: p.text, who: p.text, moved: p.flag })),
  }),
  worktreeLost: ofChild,
  worktreeRestored: z.object({ child: p.key, place: p.place }),
  quarantineStarted: ofChild,
  quarantined: z.object({ child: p.key, moved: z.array(p.text), left: p.whoAndPath }),
  settleLeftRequested: z.object({ child: p.key, how: z.enum(['move', 'keep']) }),
  forecasted: z.object({
    forecasts: z.array(z.object({ child: p.key, clean: p.flag, with: p.whoAndPath })),
  }),
  applyWriting: z.object({ batch: p.key, ...p.applyStep.shape }),
  applyEnded: z.object({
    children: p.keys,
    applied: p.keys,
    conflicts: z.array(z.object({ child: p.key, with: p.whoAndPath })),
    red: z.array(z.object({ child: p.key, errors: p.count })),
    message: p.nullableText,
  }),
  checked: z.object({
    batch: p.key,
    check: p.batchCheck,
    children: z.array(z.object({ child: p.key, check: p.childCheck })),
  }),
  worktreeMeasured: z.object({ child: p.key, bytes: p.count }),
  worktreeRemoved: ofChild,
  timerFired: z.object({ timer: z.object({ kind: p.text }) }),
  resumeRequested: z.object({ children: p.keys, how: z.enum(['auto', 'brief']) }),
  resumeAtRequested: z.object({ children: p.keys, at: p.instant }),
  declineRequested: ofChildren,
  pauseRequested: ofChildren,
  stopRequested: ofChildren,
  retryRequested: z.object({ children: p.keys, prompt: p.nullableText }),
  startNextRequested: ofChildren,
  gateAnswered: z.object({
    gate: p.key,
    answer: z.union([z.enum(['resumeNow', 'resumeAtReset', 'decline']), z.object({ at: p.instant })]),
  }),
  applyRequested: z.object({ batch: p.key, children: p.keys }),
  checkRequested: ofBatch,
  restoreRequested: ofChild,
  credentialChanged: z.object({ credential: p.key }),
  diskFilled: nothing,
  diskFreed: nothing,
};

/** Records as events. What this version does not know, or what lacks its parts, is passed over and named. */
export function parseEvents(
  records: readonly RawRecord[],
  file: string,
  problems: Problem[],
): readonly Stamped[] {
  const stamped: Stamped[] = [];
  const passed = new Map<string, number>();
  for (const record of records) {
    const event = isKnown(record.type) ? eventIn(record) : null;
    if (event !== null && isKnown(record.type) && isWhole(record.type, event))
      stamped.push({ seq: record.n, t: record.t, offset: record.offset, event: event as unknown as Event });
    else {
      const fault = isKnown(record.type) ? 'malformed' : 'not known to this version';
      const name = `${JSON.stringify(record.type.slice(0, 60))} is ${fault}`;
      passed.set(name, (passed.get(name) ?? 0) + 1);
    }
  }
  for (const [name, times] of passed)
    problems.push({ path: file, message: `An event ${name} and was passed over (${times} times).` });
  return stamped;
}

/** The schema lets through what it does not name, so the event itself is what was checked. */
function isWhole(type: Event['type'], event: Readonly<Record<string, unknown>>): boolean {
  return event['type'] === type && schemas[type].safeParse(event).success;
}

function isKnown(type: string): type is Event['type'] {
  return Object.hasOwn(schemas, type);
}
