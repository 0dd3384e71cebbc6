import type { BatchView, ChildAction, GateAction, GateView, View } from '../protocol/view.js';
import type { FromPanel, HostState } from '../protocol/messages.js';
import type { IconName, Tone } from './marks.js';
import { fill, t, template, type TextKey } from './texts.js';
import {
  clock,
  countsDownBelow,
  epoch,
  fullInstant,
  instant,
  longCountdown,
  tokens,
  type Reader,
} from './times.js';

/** One strip: an account that is not open, a decision, or a word about Swarm itself. */
export interface StripModel {
  readonly id: string;
  readonly tone: Tone;
  readonly icon: IconName;
  readonly who: string;
  readonly word: string;
  /** The word is plain text, not a state. */
  readonly plainWord?: boolean;
  readonly segments: readonly Segment[];
  readonly tip: string;
  readonly buttons: readonly StripButton[];
}

/** A part between two dots: plain, or one that counts down to an instant. */
export type Segment =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'countdown'; readonly until: number; readonly text: string };

export interface StripButton {
  readonly label: string;
  readonly primary: boolean;
  readonly tip: string;
  readonly message: FromPanel;
}

/** All strips in their order: needs you, check red, closed, near a limit, probing, done. */
export function stripModels(
  view: View,
  host: HostState | null,
  now: number,
  reader: Reader,
): readonly StripModel[] {
  const gates = view.gates
    .filter((gate) => gate.display !== 'open')
    .map((gate) => ({ rank: gateRank(gate), strip: gateStrip(gate, now, reader) }));
  const batches = view.batches.flatMap((batch) => [
    ...checkStrip(batch, now, reader).map((strip) => ({ rank: 2, strip })),
    ...doneStrip(batch).map((strip) => ({ rank: 6, strip })),
  ]);
  const sorted = [...gates, ...batches].sort((a, b) => a.rank - b.rank).map(({ strip }) => strip);
  return [...hostStrips(view, host), ...sorted];
}

function gateRank(gate: GateView): number {
  if (gate.needsUser) return 1;
  if (gate.display === 'near') return 4;
  return gate.display === 'probing' || gate.display === 'opening' ? 5 : 3;
}

function gateStrip(gate: GateView, now: number, reader: Reader): StripModel {
  const who = gate.model === undefined ? gate.credential : `${gate.credential} ${gate.model}`;
  const until = epoch(gate.until);
  const next = epoch(gate.nextTry) ?? until;
  const at = (ms: number | null) => (ms === null ? null : instant(ms, now, reader));
  const said = gate.message === '' ? '' : `${gate.message}\n`;
  const source = sourceText(gate, now, reader);
  const words = (key: TextKey, args: readonly Arg[], tip: string) => ({ ...grammar(key, args, now), tip });
  const drawn = (): ReturnType<typeof words> => {
    switch (gate.display) {
      case 'open':
      case 'closedUntil': {
        const count = until !== null && until - now < countsDownBelow ? { until } : null;
        const window =
          gate.window === null || gate.window === 'unknown'
            ? ''
            : t('gate.closedUntil.window', reasonWord(gate), t(`window.${gate.window}`));
        const full = until === null ? '' : fullInstant(until, now, reader);
        return words(
          'gate.closedUntil',
          [who, at(until), count, gate.waiting],
          t('gate.closedUntil.tip', window, full, source),
        );
      }
      case 'closedGuess':
        return words(
          'gate.closedGuess',
          [who, at(next), gate.waiting],
          t('gate.closedGuess.tip', at(next) ?? ''),
        );
      case 'closedSoon':
        return words(
          'gate.closedSoon',
          [who, next === null ? null : { until: next }, gate.waiting],
          t('gate.closedSoon.tip'),
        );
      case 'near':
        return words(
          'gate.near',
          [who, gate.utilization === null ? '?' : Math.round(gate.utilization), at(until), gate.held],
          t('gate.near.tip'),
        );
      case 'probing':
        return words(
          'gate.probing',
          [who, gate.canary, Math.max(0, gate.waiting - gate.held), gate.held],
          t('gate.probing.tip', until === null ? '' : t('gate.probing.reset', at(until) ?? '')),
        );
      case 'opening':
        return words(
          'gate.opening',
          [who, gate.resumed?.done ?? 0, gate.resumed?.of ?? 0],
          t('gate.opening.tip'),
        );
      case 'signedOut':
        return words('gate.signedOut', [who, gate.waiting], t('gate.signedOut.tip', gate.message));
      case 'denied':
        return words('gate.denied', [who, gate.waiting], t('gate.denied.tip', gate.message));
      case 'credits':
        return words('gate.credits', [who, gate.waiting], said + t('gate.credits.tip'));
      case 'weekly':
        return words(
          'gate.weekly',
          [who, at(until), gate.waiting],
          t('gate.weekly.tip', until === null ? '' : fullInstant(until, now, reader), source),
        );
      case 'quietHours':
        return words('gate.quietHours', [who, at(next), gate.waiting], t('gate.quietHours.tip'));
      case 'budget':
        return words('gate.budget', [who, gate.waiting], t('gate.budget.tip', said));
      case 'noResume':
        return words('gate.noResume', [who, at(until), gate.waiting], t('gate.noResume.tip'));
      default:
        return gate.display satisfies never;
    }
  };
  const look = gateLook(gate);
  return { id: `gate:${who}`, ...look, ...drawn(), buttons: gateButtons(gate, now, reader) };
}

function gateLook(gate: GateView): { readonly tone: Tone; readonly icon: IconName } {
  if (gate.needsUser) return { tone: 'need', icon: 'needs' };
  if (gate.display === 'probing') return { tone: 'run', icon: 'busy' };
  if (gate.display === 'opening') return { tone: 'run', icon: 'running' };
  return { tone: 'wait', icon: gate.display === 'near' ? 'held' : 'paused' };
}

function gateButtons(gate: GateView, now: number, reader: Reader): readonly StripButton[] {
  const until = epoch(gate.until);
  const when = until === null ? '' : instant(until, now, reader);
  const offer: readonly (GateAction | null)[] = offered(gate);
  const asks = gate.needsUser;
  const message = (action: GateAction): FromPanel => ({
    type: 'gate',
    action,
    credential: gate.credential,
    ...(gate.model === undefined ? {} : { model: gate.model }),
  });
  return offer.flatMap((action, i) => {
    if (action === null || !gate.actions.includes(action)) return [];
    const short = gate.actions.includes('resumeAtReset') && offer.includes('resumeAtReset');
    return [
      {
        ...gateButton(action, short, when, gate, now, reader),
        primary: asks && i === 0,
        message: message(action),
      },
    ];
  });
}

function offered(gate: GateView): readonly GateAction[] {
  switch (gate.display) {
    case 'open':
    case 'near':
    case 'probing':
    case 'opening':
      return [];
    case 'closedUntil':
    case 'closedGuess':
    case 'closedSoon':
      return ['resumeNow'];
    case 'weekly':
    case 'quietHours':
      return ['resumeAtReset', 'resumeNow', 'dontResume'];
    case 'signedOut':
      return ['signIn'];
    case 'denied':
      return ['openSetting', 'tryAgain'];
    case 'credits':
      return ['tryAgain'];
    case 'budget':
      return ['resumeNow', 'openSetting'];
    case 'noResume':
      return ['resumeAt', 'resumeNow'];
    default:
      return gate.display satisfies never;
  }
}

function gateButton(
  action: GateAction,
  short: boolean,
  when: string,
  gate: GateView,
  now: number,
  reader: Reader,
): { readonly label: string; readonly tip: string } {
  const until = epoch(gate.until);
  switch (action) {
    case 'resumeNow': {
      if (short) return { label: t('button.now'), tip: t('button.now.tip') };
      const first = gate.first
        ? gate.first.title + (gate.first.tokens === null ? '' : `, ${tokens(gate.first.tokens)}`)
        : null;
      if (when === '') return { label: t('action.resumeNow'), tip: t('button.resumeNow.tipPlain') };
      return {
        label: t('action.resumeNow'),
        tip: first === null ? t('button.resumeNow.tip', when) : t('button.resumeNow.tipFirst', when, first),
      };
    }
    case 'resumeAtReset':
      return {
        label: t('button.resumeThen', when),
        tip: t('button.resumeThen.tip', until === null ? '' : fullInstant(until, now, reader)),
      };
    case 'resumeAt':
      return { label: t('action.resumeAt'), tip: '' };
    case 'dontResume':
      return { label: short ? t('button.dont') : t('action.dontResume'), tip: t('button.dont.tip') };
    case 'signIn':
      return { label: t('action.signIn'), tip: t('button.signIn.tip') };
    case 'tryAgain':
      return { label: t('button.tryAgain'), tip: t('button.tryAgain.tip') };
    case 'openSetting':
      return { label: t('action.openSetting'), tip: '' };
    default:
      return action satisfies never;
  }
}

function checkStrip(batch: BatchView, now: number, reader: Reader): readonly StripModel[] {
  const check = batch.check;
  if (!check || check.state !== 'red' || check.stale) return [];
  const guilty = check.errorsByChild.filter((child) => child.errors > 0);
  const only = guilty.length === 1 ? guilty[0] : undefined;
  const inChildren = guilty.reduce((sum, child) => sum + child.errors, 0);
  const words =
    guilty.length === 0
      ? grammar('check.redTree', [batch.name, check.errors], now)
      : only
        ? grammar('check.red', [batch.name, check.errors, check.errorsInTree, only.errors, only.title], now)
        : grammar(
            'check.redMany',
            [batch.name, check.errors, check.errorsInTree, inChildren, guilty.length],
            now,
          );
  const at = epoch(check.at);
  const targets = guilty.map((child) => ({ batch: batch.id, child: child.id }));
  const able = (action: ChildAction) =>
    targets.length > 0 &&
    guilty.every((g) => batch.children.find((child) => child.id === g.id)?.actions.includes(action));
  const button = (action: ChildAction, primary: boolean, tip: string): readonly StripButton[] =>
    able(action)
      ? [{ label: t(`action.${action}`), primary, tip, message: { type: 'child', action, targets } }]
      : [];
  return [
    {
      id: `check:${batch.id}`,
      tone: 'bad',
      icon: 'red',
      ...words,
      tip: t('check.tip', check.command, check.tree, at === null ? '' : clock(at, reader)),
      buttons: [...button('giveBack', true, t('button.giveBack.tip')), ...button('showErrors', false, '')],
    },
  ];
}

function doneStrip(batch: BatchView): readonly StripModel[] {
  if (batch.status !== 'succeeded' && batch.status !== 'failed') return [];
  const count = (...displays: readonly string[]) =>
    batch.children.filter((child) => displays.includes(child.display)).length;
  const ready = count('done');
  const out = count('conflict', 'checkRed');
  if (ready + out === 0) return [];
  const message = (action: 'applyAll' | 'reviewAll'): FromPanel => ({
    type: 'batch',
    action,
    batch: batch.id,
  });
  const can = (action: 'applyAll' | 'reviewAll') => batch.actions.includes(action);
  const applied = count('applied');
  return [
    {
      id: `done:${batch.id}`,
      tone: 'ok',
      icon: 'done',
      ...grammar(
        'apply.summary',
        [batch.name, ready, applied === 0 ? null : applied, out === 0 ? null : out],
        0,
      ),
      tip: t('apply.all.tip', ready),
      buttons: [
        ...(can('applyAll') && ready > 0
          ? [
              {
                label: t('batch.applyAll'),
                primary: true,
                tip: t('button.applyAll.tip', ready),
                message: message('applyAll'),
              },
            ]
          : []),
        ...(can('reviewAll')
          ? [{ label: t('batch.reviewAll'), primary: false, tip: '', message: message('reviewAll') }]
          : []),
      ],
    },
  ];
}

function hostStrips(view: View, host: HostState | null): readonly StripModel[] {
  const strips: StripModel[] = [];
  if (host?.supervisor === 'gone') {
    const alive = view.batches.flatMap((b) => b.children).filter((c) => c.status === 'running').length;
    strips.push({
      id: 'host:gone',
      tone: 'run',
      icon: 'busy',
      ...grammar('error.lost', [alive], 0),
      tip: t('error.lost.tip'),
      buttons: [],
    });
  }
  if (host?.supervisor === 'viewer')
    strips.push({
      id: 'host:viewer',
      tone: 'idle',
      icon: 'held',
      ...grammar('error.viewer', [], 0),
      tip: '',
      buttons: [],
    });
  if (host?.supervisor === 'readOnly')
    strips.push({
      id: 'host:readOnly',
      tone: 'need',
      icon: 'needs',
      ...(host.writtenBy === null
        ? grammar('error.newerPlain', [], 0)
        : grammar('error.newer', [host.writtenBy], 0)),
      tip: '',
      buttons: [
        {
          label: t('error.newer.button'),
          primary: true,
          tip: '',
          message: { type: 'command', command: 'checkForUpdate' },
        },
      ],
    });
  view.problems.forEach((problem, i) =>
    strips.push({
      id: `problem:${i}:${problem.path}`,
      tone: 'need',
      icon: 'needs',
      ...grammar('error.problem', [problem.path, problem.message], 0),
      tip: '',
      buttons: [
        {
          label: t('error.problem.button'),
          primary: false,
          tip: '',
          message: { type: 'command', command: 'showProblem' },
        },
      ],
    }),
  );
  return strips;
}

/** The text of a segment that counts down, as it is now. */
export function countdownText(
  segment: { readonly until: number; readonly text: string },
  now: number,
): string {
  if (segment.until <= now) return t('time.now');
  return segment.text.replace(/\{\d+\}/, longCountdown(segment.until, now));
}

/** The strip that says that no agent is installed. */
export function noAgentStrip(looked: readonly string[]): StripModel {
  return {
    id: 'host:noAgent',
    tone: 'need',
    icon: 'needs',
    ...grammar('empty.noAgent', [], 0),
    plainWord: true,
    tip: t('empty.noAgent.tip', looked.join(', ')),
    buttons: [
      {
        label: t('empty.noAgent.doctor'),
        primary: true,
        tip: t('empty.noAgent.doctor.tip'),
        message: { type: 'command', command: 'doctor' },
      },
    ],
  };
}

function sourceText(gate: GateView, now: number, reader: Reader): string {
  const until = epoch(gate.until);
  if (gate.source === null) return '';
  return gate.source === 'probe'
    ? t('source.probe', until === null ? '' : instant(until, now, reader))
    : t(`source.${gate.source}`);
}

function reasonWord(gate: GateView): string {
  const reason = gate.reason;
  if (reason === 'none' || reason === 'invalid_request' || reason === 'unknown') return '';
  const word = t(`reason.${reason}.row`, '');
  return word.charAt(0).toUpperCase() + word.slice(1);
}

type Arg = string | number | { readonly until: number } | null;

/**
 * Reads a text of the form `**who** word · fact · fact`: null drops the segment that names it, an instant
 * makes its segment count down.
 */
function grammar(
  key: TextKey,
  args: readonly Arg[],
  now: number,
): { readonly who: string; readonly word: string; readonly segments: readonly Segment[] } {
  const [head = '', ...rest] = template(key).split(' · ');
  const plain = args.map((arg) => (arg === null || typeof arg === 'object' ? '' : arg));
  const [, who = '', word = ''] = /^\*\*(.+?)\*\*\s*(.*)$/.exec(head) ?? [];
  const segments = rest.flatMap((segment): Segment[] => {
    const named = [...segment.matchAll(/\{(\d+)\}/g)].map((match) => args[Number(match[1])]);
    if (named.includes(null)) return [];
    const counting = named.find((arg) => typeof arg === 'object' && arg !== null);
    if (typeof counting === 'object' && counting !== null) {
      if (counting.until <= now) return [{ kind: 'text', text: t('time.now') }];
      return [{ kind: 'countdown', until: counting.until, text: segment }];
    }
    return [{ kind: 'text', text: fill(segment, plain) }];
  });
  return { who: fill(who, plain), word: fill(word, plain), segments };
}
