import type { Field } from './fields.js';

const EQUALS =
  /(?<![\w.?&-])([a-z_][\w.-]{3,40}=|[a-z]{2,20}(?:_[a-z]{2,20}){1,4}:\s?)(?:"([^"\n]{1,80})"|'([^'\n]{1,80})'|([^\s,;|)\]}"']{1,60}))/gi;
const NAMED = /(?<![\w"'])([a-z_]\w{3,40}:)\s?(?:"([^"\n]{1,80})"|'([^'\n]{1,80})')/gi;
const TAGGED = /<([a-z][\w-]{3,40})>([^<>\n]{1,80})<\//gi;
const MOST = 60;

/** The pairs of a log line, a printed object or a tag: `msg="…" reset_at=1772647200`, `resetsAt: '…'`, `<retryAfter>60</…`. */
export function pairsIn(program: string): readonly Field[] {
  if (!/[=_]|<\/|:\s?['"]/.test(program)) return [];
  return [EQUALS, NAMED, TAGGED]
    .flatMap((expression) => [...program.matchAll(expression)].slice(0, MOST))
    .map((match) => ({
      key: (match[1] ?? '').replace(/[=:]\s?$/, ''),
      value: match[2] ?? match[3] ?? match[4] ?? '',
      open: false,
      header: false,
    }));
}
