import type { AgentEvent, AgentParser, OutputLine } from '../../../src/supervisor/agents/agent.js';

/** The lines of an attempt's two logs, stderr after stdout. */
export function outputLines(stdout: string, stderr: string): readonly OutputLine[] {
  const lines = (stream: OutputLine['stream'], text: string) =>
    text
      .split('\n')
      .slice(0, text.endsWith('\n') ? -1 : undefined)
      .map((line) => ({ stream, text: line }));
  return [...lines('stdout', stdout), ...(stderr === '' ? [] : lines('stderr', stderr))];
}

/** All events of the lines, in order. */
export function eventsOf(parser: AgentParser, lines: readonly OutputLine[]): readonly AgentEvent[] {
  return lines.flatMap((line) => parser.push(line));
}

/** Events as text, one a line, without those that mean nothing. */
export function eventText(events: readonly AgentEvent[]): string {
  return events
    .filter((event) => event.type !== 'ignored')
    .map((event) => eventLine(event) + '\n')
    .join('');
}

function eventLine(event: AgentEvent): string {
  switch (event.type) {
    case 'session':
      return `session ${event.id}`;
    case 'read':
      return `read ${event.path}`;
    case 'writing':
    case 'write':
      return `${event.type} ${event.path} (${event.tool})`;
    case 'shellStarted':
      return `shellStarted ${oneLine(event.command)}`;
    case 'shell':
      return `shell ${event.exitCode ?? '?'} ${oneLine(event.command)}`;
    case 'decision':
    case 'text':
    case 'unrecognized':
      return `${event.type} ${oneLine(event.text)}`;
    case 'next':
      return `next ${event.items.map((item) => `[${item.done ? 'x' : ' '}] ${item.text}`).join(' ')}`;
    case 'usage':
      return `usage ${event.mode} input ${event.input} cached ${event.cachedInput} output ${event.output}`;
    case 'signal': {
      const { channel, providerOrCli, httpStatus, text, event: source } = event.signal;
      const status = httpStatus === undefined ? '' : ` ${httpStatus}`;
      return `signal${event.final ? ' final' : ''} ${channel} ${providerOrCli ?? ''}${status} <${sourceName(source)}> ${oneLine(text)}`;
    }
    case 'denied':
      return `denied ${oneLine(event.what)}`;
    case 'done':
      return `done ${event.ok ? 'ok' : 'failed'} ${oneLine(event.result)}`;
    case 'ignored':
      return 'ignored';
    default:
      return event satisfies never;
  }
}

function sourceName(source: unknown): string {
  if (typeof source !== 'object' || source === null) return '';
  const { type, subtype } = source as { type?: unknown; subtype?: unknown };
  return [type, subtype].filter((part) => typeof part === 'string').join('/');
}

function oneLine(text: string): string {
  const line = text.replaceAll('\n', '⏎');
  return line.length > 400 ? `${line.slice(0, 400)}…` : line;
}
