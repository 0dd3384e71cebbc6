import { z } from 'zod';
import type { Problem } from '../../../protocol/view.js';
import type { Event, Stamped } from '../../core/event.js';
import { eventIn, type RawRecord } from './record.js';
import * as p from './parts.js';

const ofAttempt = { child: p.key, attempt: p.count };
const ofChildren = z.looseObject({ children: p.keys });
const ofChild = z.looseObject({ child: p.key });
const ofBatch = z.looseObject({ batch: p.key });
const nothing = z.looseObject({});

/** What each event must have for the machine to work on it. */
const schemas: Readonly<Record<Event['type'], z.ZodType>> = {
  opened: z.looseObject({ owner: p.owner, version: p.text }),
  settingsChanged: z.looseObject({ settings: p.settings }),
  batchLaunched: z.looseObject({ batch: p.batch, tasks: z.array(p.task).min(1) }),
  batchRemoved: ofBatch,
  prepared: z.looseObject({ ...ofAttempt, place: p.place }),
  prepareFailed: z.looseObject({
    ...ofAttempt,
    failure: z.looseObject({ kind: p.text, message: p.text }),
  }),
  spawned: z.looseObject({ ...ofAttempt, process: p.processId }),
  spawnFailed: z.looseObject({ ...ofAttempt, message: p.text, disk: p.flag }),
  sessionLearned: z.looseObject({ ...ofAttempt, session: p.text }),
  reported: z.looseObject({
    ...ofAttempt,
    progress: p.flag,
    report: z.looseObject({
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
  limitHeard: z.looseObject({ ...ofAttempt, verdict: p.verdict }),
  exited: z.looseObject({
    ...ofAttempt,
    exit: z.looseObject({
      kind: z.enum(['exited', 'lost']),
      code: p.count.nullable(),
      signal: p.nullableText,
      asked: p.flag,
    }),
    verdict: p.verdict,
    result: p.text,
    progress: p.flag,
  }),
  adopted: z.looseObject({ ...ofAttempt, process: p.processId }),
  snapshotTaken: z.looseObject({
    child: p.key,
    n: p.count,
    ref: p.text,
    commit: p.text,
    files: p.count.optional(),
  }),
  snapshotFailed: z.looseObject({ child: p.key, message: p.text, disk: p.flag }),
  uncaptured: z.looseObject({
    child: p.key,
    paths: z.array(z.looseObject({ path: p.text, reason: p.text })),
  }),
  strayed: z.looseObject({
    child: p.key,
    strays: z.array(z.looseObject({ path: p.text, who: p.text, moved: p.flag })),
  }),
  worktreeLost: ofChild,
  worktreeRestored: z.looseObject({ child: p.key, place: p.place }),
  quarantineStarted: ofChild,
  quarantined: z.looseObject({ child: p.key, moved: z.array(p.text), left: p.whoAndPath }),
  settleLeftRequested: z.looseObject({ child: p.key, how: z.enum(['move', 'keep']) }),
  forecasted: z.looseObject({
    forecasts: z.array(z.looseObject({ child: p.key, clean: p.flag, with: p.whoAndPath })),
  }),
  applyWriting: z.looseObject({ batch: p.key, ...p.applyStep.shape }),
  applyEnded: z.looseObject({
    children: p.keys,
    applied: p.keys,
    conflicts: z.array(z.looseObject({ child: p.key, with: p.whoAndPath })),
    red: z.array(z.looseObject({ child: p.key, errors: p.count })),
    message: p.nullableText,
  }),
  checked: z.looseObject({
    batch: p.key,
    check: p.batchCheck,
    children: z.array(z.looseObject({ child: p.key, check: p.childCheck })),
  }),
  worktreeMeasured: z.looseObject({ child: p.key, bytes: p.count }),
  worktreeRemoved: ofChild,
  timerFired: z.looseObject({ timer: z.looseObject({ kind: p.text }) }),
  resumeRequested: z.looseObject({ children: p.keys, how: z.enum(['auto', 'brief']) }),
  resumeAtRequested: z.looseObject({ children: p.keys, at: p.instant }),
  declineRequested: ofChildren,
  pauseRequested: ofChildren,
  stopRequested: ofChildren,
  retryRequested: z.looseObject({ children: p.keys, prompt: p.nullableText }),
  startNextRequested: ofChildren,
  gateAnswered: z.looseObject({
    gate: p.key,
    answer: z.union([z.enum(['resumeNow', 'resumeAtReset', 'decline']), z.looseObject({ at: p.instant })]),
  }),
  applyRequested: z.looseObject({ batch: p.key, children: p.keys }),
  checkRequested: ofBatch,
  restoreRequested: ofChild,
  credentialChanged: z.looseObject({ credential: p.key }),
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
