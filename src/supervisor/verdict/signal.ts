import type { Verdict } from '../../protocol/verdict.js';

/** Where a text was said. `event`: one line of a machine-readable stream. `result`: a tool's or a run's final result. */
export type SignalChannel = 'stdout' | 'stderr' | 'event' | 'result' | 'http';

/** One thing that a child's process, stream or HTTP answer said. */
export interface Signal {
  readonly channel: SignalChannel;
  /** Who printed it, e.g. `claude-code`, `codex`, `anthropic`; free text, matched loosely. */
  readonly providerOrCli?: string | undefined;
  readonly exitCode?: number | undefined;
  readonly httpStatus?: number | undefined;
  /** Header names in any case. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly text: string;
  /** The parsed line, where the channel is a machine-readable stream. */
  readonly event?: unknown;
}

/** What is known around a signal. */
export interface VerdictContext {
  /** Epoch milliseconds; relative times count from here. */
  readonly observedAt: number;
  /** IANA zone of the machine, for times that name none. */
  readonly localTimeZone: string;
  /** What the child was doing: `ended` is the end of the process, `unknown` is a lone message with nothing else known. */
  readonly doing: 'alive' | 'retrying' | 'ended' | 'unknown';
  /** Earlier verdicts of the same stream, oldest first: a structured one said before the end still counts at the end. */
  readonly saidBefore?: readonly Verdict[] | undefined;
}
