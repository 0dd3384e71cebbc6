import type { FailureClass, Verdict } from '../../protocol/verdict.js';
import type { Exit } from '../core/event.js';
import type { Signal } from '../verdict/signal.js';
import { redact } from '../verdict/redact.js';
import { combine, verdict } from '../verdict/verdict.js';
import type { EffectContext } from './context.js';

/** What an attempt has said that a verdict must know, in order. */
export type Saying =
  | {
      readonly kind: 'signal';
      readonly signal: Signal;
      readonly final: boolean;
      /** How it was read when it was said; absent where it was not. */
      readonly verdict?: Verdict;
    }
  | { readonly kind: 'done'; readonly ok: boolean };

/**
 * The verdict of something a living child has just said, if the machine must hear of it now: a limit of the account,
 * or that one is near. Prose and passing retries are not heard; null.
 */
export function heardVerdict(
  context: EffectContext,
  saying: Saying & { readonly kind: 'signal' },
  before: readonly Saying[],
): Verdict | null {
  const { signal, final } = saying;
  if (signal.channel === 'stdout' || signal.channel === 'stderr') return null;
  const heard = verdict(
    signal,
    {
      observedAt: context.clock.now(),
      localTimeZone: context.clock.zone,
      doing: final ? 'alive' : 'retrying',
      saidBefore: saidVerdicts(before),
    },
    context.rules,
  );
  if (heard.nearLimit !== null && heard.class === 'none') return heard;
  return closing(heard.class) && (final || heard.class !== 'rate_limit') ? heard : null;
}

function closing(failure: FailureClass): boolean {
  return failure === 'usage_limit' || failure === 'credits_exhausted' || failure === 'rate_limit';
}

/**
 * The verdict of an attempt's end. Of the final words the last counts; a success that it told is one whatever was
 * said before; without a final word the exit and the last lines on stderr speak.
 */
export function endVerdict(
  context: EffectContext,
  said: readonly Saying[],
  stderr: string,
  exit: Exit,
  agent: string,
): Verdict {
  const last = said.findLastIndex((saying) => saying.kind === 'done' || saying.final);
  const lastWord = said[last];
  const base = {
    observedAt: context.clock.now(),
    localTimeZone: context.clock.zone,
    doing: 'ended',
  } as const;
  if (lastWord?.kind === 'done' && lastWord.ok) return nothingFailed;
  // An agent says the same failure in several ways at its end, the clearest not always last.
  const reset = said.findLastIndex((saying) => saying.kind === 'done' && saying.ok);
  const signals = said
    .slice(reset + 1)
    .filter((saying): saying is Saying & { readonly kind: 'signal' } => saying.kind === 'signal');
  const finals = signals.filter((saying) => saying.final);
  const exitCode = exit.code ?? undefined;
  const inProtocol = agent === 'command' || agent === 'local' || agent === 'demo';
  // Whoever speaks the line protocol says what failed in it; other words on stderr are its log.
  if (inProtocol && finals.length === 0 && exitCode !== temporary)
    return exit.kind === 'exited' && exitCode === 0 ? nothingFailed : crashed(exitCode, stderr);
  // In the line protocol the last word alone counts.
  const counted = inProtocol ? finals.slice(-1) : signals;
  const ending: Signal = {
    channel: 'stderr',
    providerOrCli: agent,
    text: inProtocol ? '' : stderr,
    ...(exitCode === undefined ? {} : { exitCode }),
  };
  return combine(
    [...counted.map((saying) => saying.signal), ending],
    { ...base, saidBefore: saidVerdicts(counted) },
    context.rules,
  );
}

/** EX_TEMPFAIL: it asks to be started again. */
const temporary = 75;

function crashed(exitCode: number | undefined, stderr: string): Verdict {
  const ended = exitCode === undefined ? 'ended without a status' : `exit ${exitCode}`;
  return {
    ...nothingFailed,
    class: 'process_crash',
    recoverable: true,
    scope: 'session',
    message: redact(stderr.trim() === '' ? ended : stderr.trim().slice(-2000)),
    steps: [{ step: 'exit', rule: 'exit-failed', found: ended, confidence: 'certain' }],
  };
}

const nothingFailed: Verdict = {
  class: 'none',
  recoverable: false,
  needsUser: false,
  resetAt: null,
  resetSource: null,
  zoneAssumed: false,
  scope: null,
  window: null,
  model: null,
  message: '',
  nearLimit: null,
  steps: [],
};

function saidVerdicts(said: readonly Saying[]): readonly Verdict[] {
  return said.flatMap((saying) =>
    saying.kind === 'signal' && saying.verdict !== undefined ? [saying.verdict] : [],
  );
}
