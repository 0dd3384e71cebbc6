import type { ChildDisplay, ChildView } from '../protocol/view.js';
import { t, type TextKey } from './texts.js';

/** One meaning per colour: at work, waits by itself, a person must act, failed, done, at rest. */
export type Tone = 'run' | 'wait' | 'need' | 'bad' | 'ok' | 'idle';

export type IconName =
  | 'running'
  | 'paused'
  | 'held'
  | 'queued'
  | 'done'
  | 'applied'
  | 'failed'
  | 'needs'
  | 'canceled'
  | 'busy'
  | 'red';

/** What a state looks like: shape, colour and word say the same thing. */
export interface Mark {
  readonly icon: IconName;
  readonly tone: Tone;
  readonly word: string;
  /** The word itself is coloured and bold: a person should see it. */
  readonly loud: boolean;
}

/** The states that are counted, chosen by chips and grouped. */
export const countedStates = [
  'needsYou',
  'pausedForYou',
  'failed',
  'conflict',
  'checkRed',
  'running',
  'paused',
  'held',
  'queued',
  'done',
  'applied',
  'canceled',
] as const;
export type CountedState = (typeof countedStates)[number];

/** States that stay visible when a batch has no room for all counts. */
export const alarms: readonly CountedState[] = ['needsYou', 'pausedForYou', 'failed', 'conflict', 'checkRed'];

/** The mark of a child. The one that is tried first turns: that ends within seconds. */
export function markOf(child: ChildView): Mark {
  const look = looks[child.display];
  const triedFirst = child.display === 'running' && child.order === 1;
  return {
    icon: triedFirst ? 'busy' : look.icon,
    tone: look.tone,
    word: t(`status.${child.display}`),
    loud: look.loud,
  };
}

/** The mark of a counted state, for counts, chips and groups. */
export function markOfState(state: CountedState): Omit<Mark, 'loud'> {
  const look = looks[state];
  return { icon: look.icon, tone: look.tone, word: t(`count.${state}`) };
}

/** The title of a group of children in one state. */
export function groupTitle(state: CountedState): string {
  return t(`status.${state}` satisfies TextKey);
}

/** Which count a child belongs to. */
export function countedAs(display: ChildDisplay): CountedState {
  return display === 'starting' || display === 'pausing' || display === 'stopping' ? 'running' : display;
}

/** Counts of the states that occur, in the order of `countedStates`. */
export function counts(
  children: readonly ChildView[],
): readonly { readonly state: CountedState; readonly n: number }[] {
  const byState = new Map<CountedState, number>();
  for (const child of children) {
    const state = countedAs(child.display);
    byState.set(state, (byState.get(state) ?? 0) + 1);
  }
  return countedStates.flatMap((state) => {
    const n = byState.get(state);
    return n === undefined ? [] : [{ state, n }];
  });
}

/** A row that F8 stops at and whose callout is open from the start. */
export function asksAPerson(child: ChildView): boolean {
  return child.display === 'needsYou' || child.display === 'failed';
}

const looks: Readonly<Record<ChildDisplay, Omit<Mark, 'word'>>> = {
  queued: { icon: 'queued', tone: 'idle', loud: false },
  held: { icon: 'held', tone: 'idle', loud: false },
  starting: { icon: 'busy', tone: 'run', loud: false },
  running: { icon: 'running', tone: 'run', loud: false },
  pausing: { icon: 'busy', tone: 'wait', loud: false },
  paused: { icon: 'paused', tone: 'wait', loud: false },
  pausedForYou: { icon: 'paused', tone: 'need', loud: false },
  needsYou: { icon: 'needs', tone: 'need', loud: true },
  stopping: { icon: 'busy', tone: 'idle', loud: false },
  done: { icon: 'done', tone: 'ok', loud: false },
  applied: { icon: 'applied', tone: 'ok', loud: false },
  conflict: { icon: 'needs', tone: 'need', loud: true },
  checkRed: { icon: 'red', tone: 'bad', loud: true },
  failed: { icon: 'failed', tone: 'bad', loud: true },
  canceled: { icon: 'canceled', tone: 'idle', loud: false },
};
