import type { Signal } from '../signal.js';
import type { RuleMatch } from '../rules/rule.js';
import { loneMoment } from '../time/loneMoment.js';
import { statedMoment, type StatedMoment } from '../time/moments.js';
import type { Evidence } from './evidence.js';
import { fieldTimes } from './times.js';

/** A stated end of a wait. */
export interface StatedTime {
  /** Epoch milliseconds, not rounded. */
  readonly at: number;
  readonly source: 'event' | 'header' | 'body' | 'text';
  readonly zoneAssumed: boolean;
  readonly found: string;
}
/** The best stated time: header, then field, then text; a length of time in the text that says later than the field wins over it. */
export function bestTime(
  evidence: Evidence,
  headerReset: number | null,
  match: RuleMatch | null,
  channel: Signal['channel'],
): StatedTime | null {
  if (headerReset !== null) return { at: headerReset, source: 'header', zoneAssumed: false, found: 'header' };
  const fields = fieldTimes(evidence.fields, evidence.moments);
  const text = textTime(evidence, match);
  if (fields.length > 0) {
    const at = Math.max(...fields);
    if (text?.kind === 'duration' && !text.approximate && text.at > at)
      return { at: text.at, source: 'text', zoneAssumed: false, found: text.found };
    return {
      at,
      source: evidence.structured && channel === 'event' ? 'event' : 'body',
      zoneAssumed: false,
      found: 'reset field',
    };
  }
  return text ? { at: text.at, source: 'text', zoneAssumed: text.zoneAssumed, found: text.found } : null;
}

function textTime(evidence: Evidence, match: RuleMatch | null): StatedMoment | null {
  const from = match?.by === 'words' ? match.index : 0;
  const pipe = /\|\s?(1[4-9]\d{8}|20\d{8})(\d{3})?(?!\d)/.exec(evidence.words);
  if (pipe) {
    const at = pipe[2] === undefined ? Number(pipe[1]) * 1000 : Number(`${pipe[1] ?? ''}${pipe[2]}`);
    return { at, zoneAssumed: false, kind: 'epoch', approximate: false, found: pipe[0], index: pipe.index };
  }
  const stated = statedMoment(evidence.words, evidence.moments, from);
  if (stated || match?.by !== 'words') return stated;
  const limit = match.rule.class === 'usage_limit' || match.rule.class === 'rate_limit';
  return limit ? loneMoment(evidence.words, evidence.moments, match.index + match.found.length) : null;
}
