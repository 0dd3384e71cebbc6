import { queuedFor } from '../../protocol/queuedFor.js';
import type { ChildView, GateView, ResetSourceView } from './types.js';

/** A time of day, with the day where it is not today; in the reader's zone. */
export function clock(iso: string, now: number): string {
  const date = new Date(iso);
  const time = new Intl.DateTimeFormat(undefined, {
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    hour12: false,
  }).format(date);
  if (new Date(now).toDateString() === date.toDateString()) return time;
  return `${new Intl.DateTimeFormat(undefined, { weekday: 'short', day: 'numeric', month: 'short' }).format(date)}, ${time}`;
}

/** `1:12:05`, `4:09`, from 48 h on only days; never negative. */
export function countdown(iso: string, now: number): string {
  const seconds = Math.max(0, Math.round((Date.parse(iso) - now) / 1000));
  if (seconds === 0) return 'now';
  const hours = Math.floor(seconds / 3600);
  if (hours >= 48) return `${Math.floor(hours / 24)} d`;
  const two = (n: number): string => String(n).padStart(2, '0');
  const minutes = Math.floor(seconds / 60) % 60;
  return hours > 0 ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`;
}

export function thousands(n: number): string {
  return n < 1000 ? String(n) : `${Math.round(n / 1000)}k`;
}

export const statusWords: Readonly<Record<ChildView['display'], string>> = {
  queued: 'Queued',
  held: 'Held',
  starting: 'Starting',
  running: 'Running',
  pausing: 'Pausing',
  paused: 'Paused',
  pausedForYou: 'Paused',
  needsYou: 'Needs you',
  stopping: 'Stopping',
  done: 'Done',
  applied: 'Applied',
  conflict: 'Conflict',
  checkRed: 'Check red',
  failed: 'Failed',
  canceled: 'Canceled',
};

const reasonWords: Readonly<Record<string, string>> = {
  usage_limit: 'usage limit',
  rate_limit: 'too many requests',
  credits_exhausted: 'out of credits',
  overloaded: 'server busy',
  stream_interrupted: 'connection cut',
  network: 'no network',
  auth_expired: 'signed out',
  auth_denied: 'access denied',
  timeout: 'no sign',
  context_overflow: 'context full',
  invalid_request: 'request refused',
  content_policy: 'refused by policy',
  process_crash: 'crashed',
  cancelled: 'by you, work kept',
  unknown: 'reason unknown',
  user: 'paused by you',
  interrupted: 'window was closed',
  disk: 'disk full',
  budget: 'token ceiling',
};

export function reasonWord(reason: string): string {
  return reasonWords[reason] ?? reason;
}

/** What stands beside a child: its last line while it runs, else why it waits. */
export function nowText(child: ChildView, gates: readonly GateView[]): string {
  switch (child.status) {
    case 'running':
      return child.lastLine;
    case 'held':
      return `waits for ${gates.find((gate) => gate.credential === child.credential)?.credential ?? child.credential}`;
    case 'queued':
      return queuedText(child, gates);
    case 'done':
      if (child.apply?.state === 'applied') return 'in your tree';
      if (child.display === 'conflict')
        return `overlaps: ${child.apply?.with.map((other) => other.path).join(', ') ?? ''}`;
      if (child.apply?.refused !== undefined) return `not applied: ${child.apply.refused}`;
      if (child.uncaptured !== undefined) return 'ready to apply, but not all of it was captured';
      return child.files.written > 0 ? 'ready to apply' : 'nothing written';
    case 'paused':
    case 'failed':
    case 'canceled':
      return child.reason ? reasonWord(child.reason.class) : '';
    default:
      child.status satisfies never;
      return '';
  }
}

function queuedText(child: ChildView, gates: readonly GateView[]): string {
  const why = queuedFor(child, gates);
  switch (why) {
    case 'slot':
      return `${child.slots?.busy} of ${child.slots?.of} slots busy`;
    case 'opening':
      return `${child.credential} open again, waits until those before it get on`;
    case 'budget':
      return `${child.credential} token ceiling reached`;
    case null:
      return '';
    default:
      return why satisfies never;
  }
}

const sources: Readonly<Record<ResetSourceView, string>> = {
  event: "from the agent's own event",
  header: "from the server's answer",
  body: "from the server's message",
  text: "read from the agent's text",
  probe: 'a guess',
};

/** The sentence of a gate; null while it is open. */
export function gateText(gate: GateView, now: number): string | null {
  const who = gate.model === undefined ? gate.credential : `${gate.credential} ${gate.model}`;
  const waiting = `${gate.waiting} waiting`;
  switch (gate.display) {
    case 'open':
      return null;
    case 'near':
      return `${who} at ${gate.utilization ?? '?'} % · new tasks wait${gate.until ? ` until ${clock(gate.until, now)}` : ''} · ${gate.held} held`;
    case 'closedUntil':
      return gate.until
        ? `${who} limit reached · resets ${clock(gate.until, now)} (${sources[gate.source ?? 'text']}) · ${waiting}`
        : `${who} limit reached · ${waiting}`;
    case 'closedGuess':
      return `${who} limit reached · no reset time · ${gate.nextTry ? `next try ${clock(gate.nextTry, now)} (a guess) · ` : ''}${waiting}`;
    case 'closedSoon':
      return `${who} busy · ${gate.nextTry ? `next try ${clock(gate.nextTry, now)} · ` : ''}${waiting}`;
    case 'probing':
      return `${who} trying one first · ${gate.canary ?? ''} · ${gate.held} held`;
    case 'opening':
      return `${who} open again · ${gate.resumed?.done ?? 0} of ${gate.resumed?.of ?? 0} resumed`;
    case 'signedOut':
      return `${who} signed out · ${waiting}`;
    case 'denied':
      return `${who} access denied · ${waiting}`;
    case 'credits':
      return `${who} out of credits · no reset time · ${waiting}`;
    case 'weekly':
      return `${who} ${gate.window ?? ''} limit · ${gate.until ? `resets ${clock(gate.until, now)} · ` : ''}asks before it goes on · ${waiting}`;
    case 'quietHours':
      return `${who} open · quiet hours${gate.nextTry ? ` until ${clock(gate.nextTry, now)}` : ''} · ${waiting}`;
    case 'budget':
      return `${who} token ceiling reached · ${waiting}`;
    case 'noResume':
      return `${who} limit reached · will not resume by itself · ${waiting}`;
    default:
      gate.display satisfies never;
      return null;
  }
}
