import { Needles } from './needles.js';
import { secretShapes, type SecretShape } from './secretShapes.js';

/** Replaces what looks like a secret. Linear in the length of the text; the kind of the secret stays readable. */
export function redact(text: string): string {
  let result = text;
  for (const { kind, shape, keep } of possibleShapes(text)) {
    result = result.replace(shape, (_match: string, ...groups: unknown[]) => {
      const before = keep && typeof groups[0] === 'string' ? groups[0] : '';
      return `${before}[redacted ${kind}]${keep === 'around' && typeof groups[1] === 'string' ? groups[1] : ''}`;
    });
  }
  return result;
}

/**
 * Where in the text the secrets stand, as [from, to) in its characters; they may overlap. For texts that cannot be
 * made longer or shorter, such as a log that is still being written.
 */
export function secretSpans(text: string): readonly (readonly [number, number])[] {
  return possibleShapes(text).flatMap(({ shape, keep }) =>
    [...text.matchAll(shape)].map((match): readonly [number, number] => {
      const [all, before, after] = match;
      const from = match.index + (keep ? (before ?? '').length : 0);
      return [from, match.index + all.length - (keep === 'around' ? (after ?? '').length : 0)];
    }),
  );
}

export function holdsSecret(text: string): boolean {
  return secretSpans(text).length > 0;
}

/** The kinds of secrets that may be in the text; most texts hold none. */
function possibleShapes(text: string): readonly SecretShape[] {
  if (text.length < 8 || !hints.someIn(text) || !maybeSecret.test(text)) return [];
  const hinted = hints.allIn(text);
  return secretShapes.filter((shape) => hinted.has(shape));
}

/** The first look: it costs a fraction of the second, and most lines hold no hint. */
const hints = new Needles(secretShapes.flatMap((of) => of.hints.map((needle) => ({ needle, of }))));

/** The second look, which passes over nearly every line that is left: a known beginning, or a name that a value follows. */
const maybeSecret =
  /(?:sk|rk|pk|whsec|gh[pousr]|github_pat|hf|api_org|gsk|xai|pplx|r8|fw|csk|tgp_v1|nvapi|jina|tvly|fc|npm|pypi|dckr|key|shp..|lin|secret|ntn|do[opr]|sntry.|glc|glsa|pul|figd|gl\w{2,5}|xox.|xapp|sk-ant|age-secret|nr(?:ak|ii|js|ra))[-_][\w+/=.-]|private key|eyj[\w-]|akia|asia|aida|aroa|abia|acca|aiza|ya29|1\/\/0|gocspx|(?:^|\W)(?:sk|ac)[0-9a-f]{32}|sg\.[\w-]|hv[sbr]\.|atlasv1|dapi[0-9a-f]|:aa[\w-]|hooks\.slack|webhooks\/|authorization|bearer|cookie|:\/\/[^\s/]{0,100}:[^\s/]{1,200}@|--(?:password|token|api-key|secret|access-token|auth-token|client-secret)|[?&]\w{2,20}=|(?:token|secret|passw\w{0,6}|passphrase|key|credentials?|_auth|_pat|pwd|_dsn|database_url|sharedaccess\w{0,10}|sig)\\{0,3}["']?\s{0,3}[:=]/i;
