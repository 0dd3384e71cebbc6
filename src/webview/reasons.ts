import type { ChildView, ReasonView } from '../protocol/view.js';
import { t, template, fill, type TextKey } from './texts.js';
import { clock, epoch, wholeMinutes, type Reader } from './times.js';

/** What stands beside a child: the reason in at most a few words. */
export function reasonInRow(child: ChildView): string {
  const reason = child.reason;
  if (!reason) return '';
  const plain = t(`reason.${textsOf(reason)}.row`, rowArgument(child, reason));
  if (reason.detail === 'consent') return t('reason.consent.row', consentWords(reason, plain));
  if (reason.detail === 'dontResume') return t('reason.dontResume.row', plain);
  return plain;
}

/** The opening sentence of the callout, and the agent's own words that belong to it. */
export function reasonSaid(child: ChildView): { readonly say: string; readonly quote: string } {
  const reason = child.reason;
  if (!reason) return { say: '', quote: '' };
  const texts = textsOf(reason);
  const quote = oneLine(reason.message, 160);
  switch (texts) {
    case 'unknown': {
      const code = /^(exit code \d+|signal \S+)$/i.exec(quote)?.[0];
      const last = oneLine(child.lastLine, 160);
      return code === undefined
        ? { say: t('reason.unknown.say'), quote: quote || last }
        : { say: t('reason.unknown.sayCode', code), quote: last };
    }
    case 'invalid_request':
    case 'process_crash':
    case 'auth_denied':
    case 'content_policy':
      return { say: t(`reason.${texts}.say`), quote };
    case 'usage_limit':
      return { say: t('reason.usage_limit.say', t(`window.${reason.window ?? 'unknown'}`)), quote: '' };
    default:
      return { say: t(`reason.${texts}.say`, rowArgument(child, reason)), quote: '' };
  }
}

/** The next step, with `**bold**` kept for the drawing. */
export function reasonTodo(child: ChildView, reader: Reader): string {
  const reason = child.reason;
  if (!reason) return '';
  const texts = textsOf(reason);
  if (texts === 'invalid_request')
    return /model/i.test(reason.message)
      ? fill(template('reason.invalid_request.do'), [child.executor, 'model'])
      : t('reason.invalid_request.doPlain');
  if (texts === 'context_overflow') return t('reason.context_overflow.do', child.files.written);
  const at = epoch(child.resetAt);
  const key: TextKey = `reason.${texts}.do`;
  if (template(key).includes('{0}')) return at === null ? '' : t(key, clock(at, reader));
  return t(key);
}

/** One bounded line of agent text. */
export function oneLine(text: string, limit: number): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > limit ? line.slice(0, limit - 1) + '…' : line;
}

type ReasonTexts = ReasonView['class'] | 'timeoutTotal' | 'attempts' | 'worktreeGone';

function textsOf(reason: ReasonView): ReasonTexts {
  switch (reason.detail) {
    case 'total':
      return 'timeoutTotal';
    case 'attempts':
      return 'attempts';
    case 'worktreeGone':
      return 'worktreeGone';
    case 'idle':
    case 'near':
    case 'consent':
    case 'dontResume':
    case undefined:
      return reason.class;
    default:
      return reason.detail satisfies never;
  }
}

function rowArgument(child: ChildView, reason: ReasonView): string | number {
  if (reason.detail === 'total') return wholeMinutes(child.ranFor * 1000);
  return child.attempts;
}

function consentWords(reason: ReasonView, plain: string): string {
  return reason.window === 'weekly' || reason.window === 'monthly'
    ? plain.replace('usage', t(`window.${reason.window}`))
    : plain;
}
