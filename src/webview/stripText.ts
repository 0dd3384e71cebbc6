import type { FromPanel } from '../protocol/messages.js';
import type { IconName, Tone } from './marks.js';
import { fill, t, template, type TextKey } from './texts.js';
import { longCountdown } from './times.js';

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

/** What fills a place of a text: null drops its segment, an instant makes it count down. */
export type Arg = string | number | { readonly until: number } | null;

/** Reads a text of the form `**who** word · fact · fact`. */
export function grammar(
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

/** The text of a segment that counts down, as it is now. */
export function countdownText(
  segment: { readonly until: number; readonly text: string },
  now: number,
): string {
  if (segment.until <= now) return t('time.now');
  return segment.text.replace(/\{\d+\}/, longCountdown(segment.until, now));
}
