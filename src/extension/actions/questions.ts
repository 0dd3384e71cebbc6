import type { ChildAction, ChildView, GateView, View } from '../../protocol/view.js';
import { candidates, type Target } from '../requests.js';
import type { Vscode } from '../vscodeTypes.js';
import { parseWhen, shortTime } from './times.js';

/** A question that must be answered before something is done. */
export interface Question {
  readonly text: string;
  readonly detail?: string;
  /** The button that does it; the dialog has its own way to say no. */
  readonly yes: string;
}

export async function confirm(vscode: Vscode, question: Question | null): Promise<boolean> {
  if (question === null) return true;
  const { text, detail, yes } = question;
  const options = detail === undefined ? { modal: true } : { modal: true, detail };
  return (await vscode.window.showWarningMessage(text, options, yes)) === yes;
}

/** What is asked before children are stopped. */
export function stopQuestion(children: readonly ChildView[], { l10n }: Vscode): Question {
  const [only] = children;
  const text =
    children.length === 1 && only !== undefined
      ? l10n.t('Stop {0}? Its work stays in its worktree.', only.title)
      : l10n.t('Stop {0} children? Their work stays in their worktrees.', children.length);
  return { text, yes: l10n.t('Stop') };
}

/** Before a gate that is closed is tried: one child goes first, and it costs something. */
export function resumeNowQuestion(gate: GateView, now: number, { l10n, env }: Vscode): Question | null {
  if (gate.state !== 'closed') return null;
  const first = gate.first?.title ?? l10n.t('none');
  const tokens = gate.first?.tokens ?? null;
  const price =
    tokens === null ? l10n.t('price unknown') : l10n.t('about {0} tokens', count(tokens, env.language));
  const until = gate.until === null ? null : Date.parse(gate.until);
  // After its reset nothing is tried against anybody's word.
  if (until !== null && until <= now) return null;
  const text =
    until === null
      ? l10n.t(
          'Try {0} now? It gave no reset time. One child goes first: {1}, {2}.',
          gate.credential,
          first,
          price,
        )
      : l10n.t(
          'Try {0} now? It said it resets at {1}. One child goes first: {2}, {3}.',
          gate.credential,
          shortTime(until, now, env.language),
          first,
          price,
        );
  return { text, yes: l10n.t('Try now') };
}

/** Above the person's own mark, a resume says its price first. */
export function priceQuestion(
  children: readonly ChildView[],
  fresh: boolean,
  askAbove: number | null,
  { l10n, env }: Vscode,
): Question | null {
  if (askAbove === null) return null;
  const prices = children.flatMap((child) => child.resumePrice ?? []);
  const tokens = prices.reduce(
    (sum, { sameNow, fresh: brief }) => sum + (fresh ? brief : Math.min(sameNow, brief)),
    0,
  );
  if (tokens <= askAbove) return null;
  const [only] = children;
  const who =
    children.length === 1 && only !== undefined ? only.title : l10n.t('{0} children', children.length);
  const how =
    fresh || prices.every((price) => price.fresh < price.sameNow)
      ? l10n.t('fresh, with a brief')
      : l10n.t('same session');
  return {
    text: l10n.t('Resume {0}? About {1} tokens: {2}.', who, count(tokens, env.language), how),
    yes: l10n.t('Resume'),
  };
}

/**
 * A child for which one of the actions can be taken now. One alone is not asked for; none is said.
 * @returns the child and the action, or null where there is none or the person chose none.
 */
export async function pickChild(
  vscode: Vscode,
  view: View,
  actions: readonly ChildAction[],
  title: string,
): Promise<{ readonly target: Target; readonly action: ChildAction } | null> {
  const { l10n, window } = vscode;
  const found = candidates(view, actions);
  const [only] = found;
  if (only === undefined) {
    void window.showInformationMessage(
      view.batches.length === 0
        ? l10n.t('There is no batch yet. Start one with New Batch.')
        : l10n.t('No child can do that now.'),
    );
    return null;
  }
  if (found.length === 1) return only;
  const items = found.map((candidate) => ({
    label: candidate.child.title,
    description: `${candidate.child.id} · ${candidate.child.executor}`,
    detail: [candidate.batch.name, candidate.child.reason?.message || candidate.child.lastLine]
      .filter(Boolean)
      .join(' · '),
    candidate,
  }));
  const picked = await window.showQuickPick(items, { title, matchOnDescription: true, matchOnDetail: true });
  return picked?.candidate ?? null;
}

/** When to resume: some near times, the stated reset, or typed. */
export async function pickTime(
  { l10n, window, env }: Vscode,
  resetAt: number | null,
  now: () => number,
): Promise<number | null> {
  const at = now();
  const soon = [15, 60, 180].map((minutes) => {
    const instant = at + minutes * 60_000;
    const label = minutes < 60 ? l10n.t('In {0} min', minutes) : l10n.t('In {0} h', minutes / 60);
    return { label, description: shortTime(instant, at, env.language), instant };
  });
  const reset =
    resetAt !== null && resetAt > at
      ? [
          {
            label: l10n.t('At the reset'),
            description: shortTime(resetAt, at, env.language),
            instant: resetAt,
          },
        ]
      : [];
  const typed = { label: l10n.t('Another time…'), description: '', instant: null };
  const picked = await window.showQuickPick([...reset, ...soon, typed], { title: l10n.t('Resume at…') });
  if (picked === undefined) return null;
  if (picked.instant !== null) return picked.instant;
  const text = await window.showInputBox({
    title: l10n.t('Resume at…'),
    prompt: l10n.t('For example 18:30, tomorrow 9:00, in 2 h, or 2026-12-07 09:00'),
    validateInput: (value) =>
      value.trim() === '' || parseWhen(value, new Date(now())) !== null
        ? null
        : l10n.t('Write a time to come, such as 18:30, tomorrow 9:00, in 2 h, or 2026-12-07 09:00'),
  });
  return text === undefined ? null : parseWhen(text, new Date(now()));
}

export function count(n: number, locale: string): string {
  return new Intl.NumberFormat(locale, { notation: n >= 10_000 ? 'compact' : 'standard' }).format(n);
}
