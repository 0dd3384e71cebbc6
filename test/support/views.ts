import type { BatchView, ChildView, GateView, View } from '../../src/protocol/view.js';

/** Views for tests: a whole value, changed where the test cares. */
export function viewOf(parts: Partial<View> = {}): View {
  return {
    schema: 1,
    seq: 1,
    at: '2026-11-26T16:17:55.000Z',
    owner: null,
    problems: [],
    gates: [],
    batches: [],
    ...parts,
  };
}

export function batchOf(children: readonly ChildView[], parts: Partial<BatchView> = {}): BatchView {
  return {
    id: 'b1',
    name: 'Auth hardening',
    status: 'running',
    children,
    isolation: 'worktree',
    createdAt: '2026-11-26T15:40:00.000Z',
    endedAt: null,
    check: null,
    actions: ['pauseAll'],
    ...parts,
  };
}

export function childOf(id: string, parts: Partial<ChildView> = {}): ChildView {
  return {
    id,
    title: `Task ${id}`,
    executor: 'claude',
    phase: 'running',
    status: 'running',
    attempts: 1,
    reason: null,
    resetAt: null,
    resetSource: null,
    session: null,
    worktree: null,
    snapshot: null,
    quarantined: false,
    files: { read: 0, written: 0 },
    tokens: { input: 0, cachedInput: 0, output: 0 },
    lastLine: '',
    display: 'running',
    order: null,
    quietSince: null,
    quarantine: null,
    apply: null,
    check: null,
    resumePrice: null,
    actions: [],
    primary: null,
    credential: 'claude',
    model: null,
    since: '2026-11-26T15:40:00.000Z',
    startedAt: null,
    endedAt: null,
    ranFor: 0,
    slots: null,
    history: [],
    details: null,
    ...parts,
  };
}

export function gateOf(parts: Partial<GateView> = {}): GateView {
  return {
    credential: 'claude',
    state: 'closed',
    until: '2026-11-26T17:30:00.000Z',
    reason: 'usage_limit',
    source: 'event',
    held: 1,
    display: 'closedUntil',
    episode: 1,
    since: null,
    window: 'five_hour',
    waiting: 2,
    utilization: null,
    nextTry: null,
    needsUser: false,
    canary: null,
    first: null,
    resumed: null,
    message: '',
    actions: ['resumeNow'],
    ...parts,
  };
}
