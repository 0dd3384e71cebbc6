import type {
  BatchAction,
  BatchView,
  ChildAction,
  ChildDisplay,
  ChildView,
  GateView,
  View,
} from '../../src/protocol/view.js';
import type { HostState } from '../../src/protocol/messages.js';

/** A situation of the panel: what the host sent, and what the clock says. */
export interface Situation {
  readonly now: string;
  readonly view: View;
  readonly host: HostState;
  /** What the panel kept from before, as `getState` would give it. */
  readonly kept?: Readonly<Record<string, unknown>>;
  /** Rows opened by hand. */
  readonly open?: readonly string[];
}

/** The zone of the tests: one with a winter offset that is not UTC's. */
export const zone = 'Europe/Berlin';

/** An instant of 26 November 2026 (a Thursday), local time. */
export function at(time: string, day = 26): string {
  const seconds = time.length === 5 ? `${time}:00` : time;
  return new Date(`2026-11-${String(day).padStart(2, '0')}T${seconds}+01:00`).toISOString();
}

export const readyHost: HostState = {
  workspace: 'ready',
  executors: [
    { name: 'claude', found: true },
    { name: 'codex', found: true },
    { name: 'kimi', found: false },
  ],
  supervisor: 'owner',
  writtenBy: null,
  letterKeys: false,
  hour12: false,
  locale: 'en-GB',
};

type Given = Partial<ChildView> & { readonly files?: ChildView['files']; readonly total?: number };

const phases: Readonly<Record<ChildDisplay, readonly [ChildView['phase'], ChildView['status']]>> = {
  queued: ['queued', 'queued'],
  held: ['queued', 'held'],
  starting: ['preparing', 'running'],
  running: ['running', 'running'],
  pausing: ['parking', 'running'],
  paused: ['paused', 'paused'],
  pausedForYou: ['paused', 'paused'],
  needsYou: ['paused', 'paused'],
  stopping: ['stopping', 'running'],
  done: ['succeeded', 'done'],
  applied: ['succeeded', 'done'],
  conflict: ['succeeded', 'done'],
  checkRed: ['succeeded', 'done'],
  failed: ['failed', 'failed'],
  canceled: ['canceled', 'canceled'],
};

const looking: readonly ChildAction[] = ['review', 'log', 'worktree', 'checkpoint'];
const actionsOf: Readonly<Record<ChildDisplay, readonly ChildAction[]>> = {
  queued: ['startNext', 'stop'],
  held: ['stop'],
  starting: ['stop'],
  running: ['pause', ...looking, 'stop'],
  pausing: ['log', 'stop'],
  paused: ['resumeNow', 'resumeAt', 'dontResume', ...looking, 'stop'],
  pausedForYou: ['resume', ...looking, 'stop'],
  needsYou: ['resume', 'why', ...looking, 'stop'],
  stopping: ['log'],
  done: ['apply', 'check', ...looking],
  applied: looking,
  conflict: ['giveBack', 'check', ...looking],
  checkRed: ['giveBack', 'showErrors', 'check', ...looking],
  failed: ['retry', 'why', 'startFresh', ...looking],
  canceled: ['retry', ...looking],
};
const primaryOf: Readonly<Record<ChildDisplay, ChildAction | null>> = {
  queued: null,
  held: null,
  starting: null,
  running: 'pause',
  pausing: null,
  paused: 'resumeNow',
  pausedForYou: 'resume',
  needsYou: 'why',
  stopping: null,
  done: 'review',
  applied: 'review',
  conflict: 'review',
  checkRed: 'review',
  failed: 'retry',
  canceled: 'retry',
};

/** A child with everything filled in that a situation does not care about. */
export function child(
  id: string,
  title: string,
  executor: string,
  display: ChildDisplay,
  given: Given = {},
): ChildView {
  const { total = 0, ...rest } = given;
  const [phase, status] = phases[display];
  return {
    id,
    title,
    executor,
    phase,
    status,
    attempts: display === 'queued' || display === 'held' ? 0 : 1,
    reason: null,
    resetAt: null,
    resetSource: null,
    session: null,
    worktree: `/repo.worktrees/b1/${id}`,
    snapshot: null,
    quarantined: false,
    files: { read: 0, written: 0 },
    tokens: {
      input: Math.round(total * 950),
      cachedInput: Math.round(total * 800),
      output: Math.round(total * 50),
    },
    lastLine: '',
    display,
    order: null,
    quietSince: null,
    quarantine: null,
    apply: null,
    check: null,
    resumePrice: null,
    actions: actionsOf[display],
    primary: primaryOf[display],
    credential: executor,
    model: null,
    since: at('16:40'),
    startedAt: null,
    endedAt: null,
    ranFor: 0,
    slots: null,
    history: [],
    details: null,
    ...rest,
  };
}

export function batch(children: readonly ChildView[], given: Partial<BatchView> = {}): BatchView {
  const actions: readonly BatchAction[] = ['pauseAll', 'stopAll', 'check'];
  return {
    id: 'b1',
    name: 'Auth hardening',
    status: 'running',
    children,
    isolation: 'worktree',
    createdAt: at('16:40'),
    endedAt: null,
    check: null,
    actions,
    ...given,
  };
}

export function gate(
  credential: string,
  display: GateView['display'],
  given: Partial<GateView> = {},
): GateView {
  return {
    credential,
    state:
      display === 'probing' ? 'probing' : display === 'near' || display === 'opening' ? 'open' : 'closed',
    until: null,
    reason: 'usage_limit',
    source: null,
    held: 0,
    display,
    episode: 1,
    since: at('17:02'),
    window: null,
    waiting: 0,
    utilization: null,
    nextTry: null,
    needsUser: false,
    canary: null,
    first: null,
    resumed: null,
    message: '',
    actions: ['resumeNow', 'resumeAt', 'dontResume'],
    ...given,
  };
}

export function view(
  batches: readonly BatchView[],
  gates: readonly GateView[] = [],
  given: Partial<View> = {},
): View {
  return {
    schema: 1,
    seq: 1,
    at: at('17:17:55'),
    owner: { pid: 1, epoch: 1, host: 'here' },
    problems: [],
    gates,
    batches,
    ...given,
  };
}

const written = (n: number, read = 0) => ({ read, written: n });
const limited = {
  class: 'usage_limit',
  message: "You've hit your session limit",
  needsUser: false,
  window: 'five_hour',
} as const;
const until = at('18:30');
const waits = { reason: limited, resetAt: until, resetSource: 'event' } as const;
const moved = {
  quarantined: true,
  quarantine: {
    moved: 3,
    left: 0,
    checked: true,
    errors: 0,
    files: ['src/auth/login.ts', 'src/auth/schema.ts', 'src/auth/LoginForm.tsx'],
  },
} as const;

const login = child('login', 'Login form validation', 'claude', 'paused', {
  ...waits,
  ...moved,
  files: written(3),
  total: 184,
  order: 2,
  history: [
    { kind: 'running', from: at('16:40'), to: at('17:02'), attempt: 1, how: 'started' },
    { kind: 'paused', from: at('17:02'), to: null, attempt: 1, reason: 'usage_limit' },
  ],
});
const tokens = child('tokens', 'Rotate refresh tokens', 'claude', 'paused', {
  ...waits,
  files: written(5),
  total: 96,
  order: 3,
  history: [
    { kind: 'queued', from: at('16:40'), to: at('16:44'), attempt: null },
    { kind: 'running', from: at('16:44'), to: at('17:04'), attempt: 1, how: 'started' },
    { kind: 'paused', from: at('17:04'), to: null, attempt: 1, reason: 'usage_limit' },
  ],
});
const audit = child('audit', 'Audit log for sign-ins', 'claude', 'paused', {
  ...waits,
  files: written(1),
  total: 41,
  order: 1,
  history: [
    { kind: 'queued', from: at('16:40'), to: at('16:56'), attempt: null },
    { kind: 'running', from: at('16:56'), to: at('17:03'), attempt: 1, how: 'started' },
    { kind: 'paused', from: at('17:03'), to: null, attempt: 1, reason: 'usage_limit' },
  ],
});
const session = child('session', 'Session store on Redis', 'codex', 'running', {
  since: at('16:44'),
  lastLine: 'Running npx vitest run src/session',
  files: written(6),
  total: 122,
  history: [
    { kind: 'queued', from: at('16:40'), to: at('16:44'), attempt: null },
    { kind: 'running', from: at('16:44'), to: null, attempt: 1, how: 'started' },
  ],
});
const ratelimit = child('ratelimit', 'Rate limit for sign-in', 'codex', 'running', {
  since: at('17:03'),
  lastLine: 'Editing src/http/limiter.ts',
  files: written(2),
  total: 58,
  history: [
    { kind: 'queued', from: at('16:40'), to: at('17:03'), attempt: null },
    { kind: 'running', from: at('17:03'), to: null, attempt: 1, how: 'started' },
  ],
});
const heldHistory = [
  { kind: 'queued', from: at('16:40'), to: at('17:02'), attempt: null },
  { kind: 'held', from: at('17:02'), to: null, attempt: null },
] as const;
const e2e = child('e2e', 'End-to-end sign-in tests', 'claude', 'held', { history: heldHistory });
const mfa = child('mfa', 'Second factor by app', 'claude', 'held', { history: heldHistory });
const docs = child('docs', 'Document the sign-in flow', 'codex', 'done', {
  ranFor: 21 * 60,
  apply: { state: 'ready', with: [] },
  files: written(4),
  total: 73,
  endedAt: at('17:01'),
  history: [{ kind: 'running', from: at('16:40'), to: at('17:01'), attempt: 1, how: 'started' }],
});
const eight = [login, tokens, audit, session, ratelimit, e2e, mfa, docs];

const closedClaude = gate('claude', 'closedUntil', {
  until,
  source: 'event',
  window: 'five_hour',
  waiting: 5,
  held: 2,
});

const change = (one: ChildView, given: Given): ChildView => ({ ...one, ...given });
const as = (one: ChildView, display: ChildDisplay, given: Given = {}): ChildView => ({
  ...child(one.id, one.title, given.executor ?? one.executor, display),
  files: one.files,
  tokens: one.tokens,
  ...given,
});

export const empty: Situation = { now: at('17:17:55'), view: view([]), host: readyHost };

export const emptyNoAgent: Situation = {
  now: at('17:17:55'),
  view: view([]),
  host: {
    ...readyHost,
    executors: ['claude', 'codex', 'kimi', 'gemini', 'qwen', 'opencode', 'copilot', 'cursor'].map((name) => ({
      name,
      found: false,
    })),
  },
};

export const running: Situation = {
  now: at('16:52:10'),
  host: readyHost,
  view: view([
    batch([
      child('login', 'Login form validation', 'claude', 'running', {
        since: at('16:40'),
        lastLine: 'Editing src/auth/login.ts',
        files: written(3),
        total: 84,
      }),
      child('session', 'Session store on Redis', 'codex', 'running', {
        since: at('16:44'),
        quietSince: at('16:48'),
        lastLine: 'npx vitest run src/session',
        files: written(6),
        total: 61,
      }),
      child('tokens', 'Rotate refresh tokens', 'claude', 'running', {
        since: at('16:49'),
        lastLine: 'Reading src/auth/refresh.ts',
        total: 18,
      }),
      child('audit', 'Audit log for sign-ins', 'claude', 'queued', { slots: { busy: 3, of: 3 } }),
      child('docs', 'Document the sign-in flow', 'codex', 'done', {
        ranFor: 9 * 60,
        files: written(4),
        total: 73,
      }),
      child('types', 'Strict types in src/auth', 'local', 'done', { ranFor: 60, files: written(11) }),
    ]),
  ]),
};

export const limit: Situation = {
  now: at('17:17:55'),
  host: readyHost,
  view: view([batch(eight)], [closedClaude]),
  kept: { selected: ['c:b1/login'], active: 'c:b1/login' },
};

export const canary: Situation = {
  now: at('18:30:41'),
  host: readyHost,
  view: view(
    [
      batch([
        login,
        tokens,
        child('audit', audit.title, 'claude', 'running', {
          order: 1,
          since: at('18:30:02'),
          lastLine: 'Resumed its session, reading src/audit/log.ts',
          files: written(1),
          total: 41,
          attempts: 2,
        }),
        session,
        ratelimit,
        e2e,
        mfa,
        as(docs, 'applied', { ranFor: 21 * 60 }),
      ]),
    ],
    [
      gate('claude', 'probing', {
        until,
        source: 'event',
        window: 'five_hour',
        waiting: 4,
        held: 2,
        canary: 'Audit log for sign-ins',
        actions: [],
      }),
    ],
  ),
};

const signedOut = { class: 'auth_expired', message: 'OAuth token has expired.', needsUser: true } as const;
export const needs: Situation = {
  now: at('17:17:55'),
  host: readyHost,
  view: view(
    [
      batch([
        as(session, 'needsYou', {
          executor: 'opencode',
          lastLine: 'panic: index out of range [7]',
          reason: {
            class: 'unknown',
            message: 'exit code 1',
            needsUser: true,
            steps: [
              {
                step: 'exit',
                rule: 'nonzero exit without a message',
                found: 'exit 1',
                confidence: 'certain',
              },
              {
                step: 'text',
                rule: 'no known words',
                found: 'panic: index out of range [7]',
                confidence: 'weak',
              },
            ],
          },
        }),
        as(login, 'pausedForYou', { reason: signedOut }),
        as(tokens, 'pausedForYou', { reason: signedOut }),
        as(audit, 'pausedForYou', {
          executor: 'kimi',
          reason: { class: 'credits_exhausted', message: '', needsUser: true },
        }),
        as(ratelimit, 'pausedForYou', {
          resetAt: at('09:00', 30),
          resetSource: 'header',
          reason: { class: 'usage_limit', message: '', needsUser: true, window: 'weekly', detail: 'consent' },
        }),
        as(mfa, 'held', { executor: 'codex', credential: 'codex' }),
        docs,
      ]),
    ],
    [
      gate('claude', 'signedOut', {
        needsUser: true,
        waiting: 2,
        reason: 'auth_expired',
        message: 'OAuth token has expired.',
        actions: ['signIn'],
      }),
      gate('kimi', 'credits', {
        needsUser: true,
        waiting: 1,
        reason: 'credits_exhausted',
        actions: ['tryAgain'],
      }),
      gate('codex', 'weekly', {
        needsUser: true,
        waiting: 2,
        until: at('09:00', 30),
        source: 'header',
        window: 'weekly',
        actions: ['resumeNow', 'resumeAtReset', 'dontResume'],
      }),
    ],
  ),
};

export const done: Situation = {
  now: at('19:42:10'),
  host: readyHost,
  view: view([
    batch(
      [
        as(login, 'checkRed', {
          check: { state: 'red', errors: 16, tree: '4be1d07', stale: false },
          total: 231,
          tokens: { input: 220_000, cachedInput: 1, output: 11_000 },
        }),
        as(session, 'conflict', {
          apply: { state: 'conflict', with: [{ who: 'you', path: 'src/session/store.ts' }] },
        }),
        as(tokens, 'done', { ranFor: 34 * 60, tokens: { input: 130_000, cachedInput: 1, output: 10_000 } }),
        as(audit, 'done', {
          ranFor: 28 * 60,
          files: written(2),
          tokens: { input: 70_000, cachedInput: 1, output: 7_000 },
        }),
        as(docs, 'applied', { ranFor: 21 * 60, apply: { state: 'applied', with: [], at: at('17:20') } }),
        child('types', 'Strict types in src/auth', 'local', 'applied', {
          ranFor: 60,
          apply: { state: 'applied', with: [], at: at('16:55') },
          files: written(11),
        }),
      ],
      {
        status: 'succeeded',
        endedAt: at('19:41'),
        actions: ['applyAll', 'reviewAll', 'check', 'remove'],
        check: {
          state: 'red',
          command: 'npx tsc --noEmit',
          errors: 16,
          errorsInTree: 0,
          errorsByChild: [{ id: 'login', title: 'Login form validation', errors: 16 }],
          tree: '4be1d07',
          at: at('19:41'),
          stale: false,
        },
      },
    ),
  ]),
};

export const failed: Situation = {
  now: at('17:31:02'),
  host: readyHost,
  view: view([
    batch([
      child('login', 'Login form validation', 'claude', 'failed', {
        primary: 'openSetting',
        actions: ['retry', 'why', 'openSetting', 'log', 'stop'],
        reason: { class: 'invalid_request', message: 'unknown model claude-sonet-5', needsUser: true },
      }),
      as(session, 'failed', {
        primary: 'startFresh',
        reason: { class: 'context_overflow', message: 'input is too long', needsUser: true },
        resumePrice: { sameNow: 0, sameLater: 0, fresh: 9000 },
        tokens: { input: 380_000, cachedInput: 1, output: 18_000 },
      }),
      as(tokens, 'running', {
        since: at('17:02'),
        lastLine: 'Editing src/auth/refresh.ts',
        tokens: { input: 80_000, cachedInput: 1, output: 8_000 },
      }),
      as(audit, 'canceled', {
        reason: { class: 'cancelled', message: '', needsUser: false },
        tokens: { input: 11_000, cachedInput: 1, output: 1_000 },
      }),
      docs,
    ]),
  ]),
};

export const details: Situation = {
  now: at('18:41:12'),
  host: readyHost,
  kept: { selected: ['c:b1/login'], active: 'c:b1/login', open: { 'c:b1/login': true } },
  view: view([
    batch([
      child('login', 'Login form validation', 'claude', 'running', {
        since: at('18:30'),
        attempts: 2,
        lastLine: 'npx vitest run src/auth/login.test.ts',
        files: written(4, 11),
        tokens: { input: 201_000, cachedInput: 168_000, output: 11_000 },
        resumePrice: { sameNow: 38_000, sameLater: 201_000, fresh: 21_000 },
        history: [
          { kind: 'running', from: at('16:40'), to: at('18:02'), attempt: 1, how: 'started' },
          { kind: 'paused', from: at('18:02'), to: at('18:30'), attempt: 1, reason: 'usage_limit' },
          { kind: 'running', from: at('18:30'), to: null, attempt: 2, how: 'resumedSelf' },
        ],
        details: {
          plan: [
            { text: 'Read the form and its callers', done: true },
            { text: 'Move the rules to schema.ts', done: true },
            { text: 'Use the schema in the form', done: true },
            { text: 'Tests for empty and long input', done: false },
            { text: 'Same messages on the server', done: false },
            { text: 'Update the docs page', done: false },
          ],
          decisions: [
            'Use zod, it is already a dependency',
            'Keep the old error texts, three e2e tests read them',
          ],
          written: [
            { path: 'src/auth/login.ts', kind: 'M', added: 38, removed: 12 },
            { path: 'src/auth/schema.ts', kind: 'A', added: 64 },
            { path: 'src/auth/components/LoginForm.tsx', kind: 'M', added: 9, removed: 31 },
            { path: 'src/auth/login.test.ts', kind: 'A', added: 52 },
          ],
          read: ['src/auth/index.ts', 'src/auth/session.ts'],
          verification: [
            { command: 'tsc --noEmit', exitCode: 0, tree: '4be1d07aa', at: at('18:39'), stale: false },
            {
              command: 'vitest: 2 of 64 failed',
              exitCode: 1,
              tree: '4be1d07aa',
              at: at('18:40'),
              stale: true,
            },
          ],
          lastLineAt: at('18:41:08'),
        },
      }),
      as(tokens, 'running', { since: at('18:31'), lastLine: 'Editing src/auth/refresh.ts' }),
      as(audit, 'starting', { lastLine: 'Linking node_modules' }),
      session,
      ratelimit,
      change(as(e2e, 'queued'), { slots: { busy: 4, of: 4 } }),
      change(as(mfa, 'queued'), { slots: { busy: 4, of: 4 } }),
      as(docs, 'applied', { ranFor: 21 * 60 }),
    ]),
  ]),
};

export const timeline: Situation = { ...limit, kept: { timeline: true } };

/** 128 children in two batches. */
export const scale: Situation = (() => {
  const folders = [
    'src/server/payments/ledger',
    'src/server/accounts/profile',
    'src/client/components/checkout',
    'src/shared/validation/schema',
    'src/server/notifications/mail',
  ];
  const files = [
    'reconcile.ts',
    'settlement-report.ts',
    'index.ts',
    'address-form.tsx',
    'rules.ts',
    'retry-queue.ts',
    'currency.ts',
    'template-cache.ts',
  ];
  const lines = [
    'Running npx tsc --noEmit',
    'Editing the file',
    'Reading 4 callers',
    'Running npx vitest run',
  ];
  const many = (
    n: number,
    display: ChildDisplay,
    agents: readonly string[],
    given: (i: number) => Given = () => ({}),
  ) =>
    Array.from({ length: n }, (_, i) =>
      child(
        `${display}${i}`,
        `${folders[(i + n) % 5] ?? ''}/${files[((i + n) * 3) % 8] ?? ''}`,
        agents[i % agents.length] ?? '',
        display,
        {
          files: written(2),
          total: 31,
          ...given(i),
        },
      ),
    );
  const busy = (i: number): Given => ({
    since: at(`17:${String(2 + i).padStart(2, '0')}`),
    lastLine: lines[i % 4] ?? '',
  });
  const paused = (): Given => waits;
  const first = [
    ...many(2, 'needsYou', ['codex'], () => ({ reason: { class: 'unknown', message: '', needsUser: true } })),
    ...many(1, 'failed', ['codex'], () => ({
      reason: { class: 'context_overflow', message: '', needsUser: true },
    })),
    ...many(7, 'running', ['codex', 'kimi'], busy),
    ...many(6, 'paused', ['claude'], paused),
    ...many(27, 'held', ['claude']),
    ...many(53, 'done', ['claude', 'codex']),
  ];
  const second = [
    ...many(4, 'running', ['codex'], busy),
    ...many(7, 'held', ['claude']),
    ...many(21, 'done', ['codex']),
  ];
  return {
    now: at('17:17:55'),
    host: readyHost,
    view: view(
      [batch(first, { name: 'Strict null checks' }), batch(second, { id: 'b2', name: 'Missing unit tests' })],
      [{ ...closedClaude, waiting: 40, held: 34 }],
    ),
  };
})();

export const situations = {
  empty,
  'empty-noagent': emptyNoAgent,
  running,
  limit,
  canary,
  needs,
  done,
  failed,
  details,
  scale,
  timeline,
} as const;
