import { type JsonObject, exitCodeOf, objectOf, objectsOf, textOf } from './jsonLine.js';
import { type ToolOutcome, type ToolUse, finishedWell, nextItems } from './toolUse.js';

/** What a tool of Claude Code does, by name. */
export function claudeToolUse(name: string, input: JsonObject, inSubAgent: boolean): ToolUse {
  const file = textOf(input['file_path']) || textOf(input['notebook_path']);
  switch (name) {
    case 'Read':
      return { kind: 'read', paths: [file] };
    case 'Write':
    case 'Edit':
    case 'MultiEdit':
    case 'NotebookEdit':
      return { kind: 'write', paths: [file], tool: name };
    case 'Bash':
      return { kind: 'shell', command: textOf(input['command']) };
    case 'TodoWrite':
      return inSubAgent ? { kind: 'other' } : { kind: 'next', items: nextItems(input['todos']) };
    default:
      return { kind: 'other' };
  }
}

/** How a tool call ended, from its result block and the details beside it. */
export function claudeOutcome(block: JsonObject, details: JsonObject | null): ToolOutcome {
  if (block['is_error'] !== true) {
    const unfinished = details?.['interrupted'] === true || typeof details?.['backgroundTaskId'] === 'string';
    return unfinished ? { ok: true, ran: true, exitCode: null } : finishedWell;
  }
  const code = /^(?:Error: )?Exit code (\d+)/.exec(blockText(block['content']))?.[1];
  return { ok: false, ran: true, exitCode: exitCodeOf(code === undefined ? undefined : Number(code)) };
}

/** Whether the permissions refused the call. */
export function wasRefused(entry: JsonObject): boolean {
  const decision = objectOf(entry['permission_decision']);
  return decision !== null && (decision['decision'] === 'reject' || decision['decision'] === 'deny');
}

/** What was refused, from an entry of the list that the last line carries. */
export function refusalText(refusal: JsonObject): string {
  const input = objectOf(refusal['tool_input']) ?? {};
  const what = textOf(input['command']) || textOf(input['file_path']);
  return [textOf(refusal['tool_name']), what].filter(Boolean).join(': ');
}

/** The text of a message's or tool result's content, which is a text or a list of blocks. */
export function blockText(content: unknown): string {
  if (typeof content === 'string') return content;
  return objectsOf(content)
    .map((block) => textOf(block['text']))
    .join('');
}
