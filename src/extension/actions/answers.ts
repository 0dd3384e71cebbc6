import type { Answer, InputError } from '../../protocol/request.js';
import type { Log } from '../../supervisor/ports.js';
import type { Vscode } from '../vscodeTypes.js';

/**
 * Says what became of a request where it was refused: each mistake with what to do. One is a notification, several are
 * listed in the output channel as well. True if the request was accepted.
 */
export function reportAnswer(
  vscode: Vscode,
  log: Log & { show(): void },
  answer: Answer,
  source: string,
): answer is Extract<Answer, { readonly ok: true }> {
  if (answer.ok) return true;
  const { l10n, window } = vscode;
  const [first] = answer.errors;
  for (const error of answer.errors) log.error(sentence(error, source));
  if (first === undefined) return false;
  if (answer.errors.length === 1) {
    void window.showErrorMessage(sentence(first, source));
    return false;
  }
  const show = l10n.t('Show all');
  const text = l10n.t(
    'Nothing was started. {0} things to correct in {1}: {2}',
    answer.errors.length,
    source || l10n.t('the batch'),
    sentence(first, ''),
  );
  void Promise.resolve(window.showErrorMessage(text, show)).then((choice) => {
    if (choice === show) log.show();
  });
  return false;
}

function sentence(error: InputError, source: string): string {
  const place = error.line === null ? source : `${source}:${error.line}`;
  return [place && place !== source ? `${place}:` : '', stop(error.message), error.fix]
    .filter(Boolean)
    .join(' ');
}

function stop(text: string): string {
  return /[.!?:]$/.test(text) ? text : `${text}.`;
}
