import type { LimitWindow, NearLimit } from '../../../protocol/verdict.js';
import { fold } from '../text/plain.js';
import { statedMoment } from '../time/moments.js';
import type { Evidence } from './evidence.js';
import { windowOf } from './headers.js';

/** The warning that a limit is near: an event's, or a notice's. */
export function nearLimit(evidence: Evidence): NearLimit | null {
  if (evidence.near) return evidence.near;
  if (evidence.nearText === '') return null;
  const words = fold(evidence.nearText);
  const percent = /(\d{1,3}(?:\.\d+)?) ?%(?: (?:of|used|utili))?|used (\d{1,3}(?:\.\d+)?) ?%/.exec(words);
  const moment = statedMoment(words, evidence.moments);
  const value = percent ? Number(percent[1] ?? percent[2]) / 100 : null;
  const left = /% (?:left|remaining)/.test(words);
  const named = /session|5-?\s?h|five|weekly|week|monthly|month|daily|today|minute/.exec(words);
  return {
    utilization: value === null ? null : left ? Math.round((1 - value) * 1000) / 1000 : value,
    window: named ? windowOf(named[0] === 'today' ? 'day' : named[0]) : null,
    resetAt: moment ? Math.ceil(moment.at / 1000) * 1000 : null,
  };
}

/** The window that words name; `unknown` where they name none. */
export function windowIn(words: string): LimitWindow {
  const named =
    /5-?\s?h(?:ou)?r|five-?\s?hour|session limit|5 ?小时|weekly|per week|7-?day|每周|周限|週|monthly|per month|billing cycle|每月|daily|per day|24-?\s?hour|每日|每天|当日|per[- _]?minute|\brpm\b|\btpm\b|每分钟/.exec(
      words,
    )?.[0];
  if (named === undefined) return 'unknown';
  if (/5|five|session/.test(named)) return 'five_hour';
  if (/week|7|周|週/.test(named)) return 'weekly';
  if (/month|月/.test(named)) return 'monthly';
  if (/day|24|daily|每日|每天|当日/.test(named)) return 'daily';
  return /billing/.test(named) ? 'unknown' : 'minute';
}
