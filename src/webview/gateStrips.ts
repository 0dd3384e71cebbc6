import type { GateAction, GateView } from '../protocol/view.js';
import type { FromPanel } from '../protocol/messages.js';
import type { IconName, Tone } from './marks.js';
import { grammar, type Arg, type StripButton, type StripModel } from './stripText.js';
import { t, type TextKey } from './texts.js';
import { countsDownBelow, epoch, fullInstant, instant, tokens, type Reader } from './times.js';

/** Needs you, closed, near a limit, probing: the place of an account's strip among all. */
export function gateRank(gate: GateView): number {
  if (gate.needsUser) return 1;
  if (gate.display === 'near') return 4;
  return gate.display === 'probing' || gate.display === 'opening' ? 5 : 3;
}

/** The strip of an account that is not open. */
export function gateStrip(gate: GateView, now: number, reader: Reader): StripModel {
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
