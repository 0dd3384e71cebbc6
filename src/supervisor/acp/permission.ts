import { type AcpToolCall } from '../agents/acpTools.js';
import type { Permissions } from '../agents/agent.js';
import { type JsonObject, objectsOf, textOf } from '../agents/jsonLine.js';
import { isInside } from './files.js';

/** What a child may do without a person. */
export interface Allowance {
  readonly permissions: Permissions;
  /** Absolute path of the child's folder. */
  readonly folder: string;
  /** The batch's check, as it is typed; null if there is none. */
  readonly check: string | null;
}

/** Edits in the child's folder, reading there and the batch's check are allowed; with `full` everything is. */
export async function isAllowed(call: AcpToolCall, allowance: Allowance): Promise<boolean> {
  if (allowance.permissions === 'full') return true;
  const within = async (use: 'read' | 'write'): Promise<boolean> => {
    const inside = await Promise.all(call.paths.map((path) => isInside(allowance.folder, path, use)));
    return inside.every(Boolean);
  };
  switch (call.kind) {
    case 'edit':
    case 'delete':
    case 'move':
      return call.paths.length > 0 && (await within('write'));
    case 'read':
    case 'search':
      return within('read');
    case 'think':
      return true;
    case 'execute':
      return allowance.check !== null && bareCommand(call.command) === allowance.check;
    default:
      return false;
  }
}

/**
 * The option to answer with; null where none says what is meant. What holds for once goes before what holds for
 * ever: the agent asks again, and each question is judged by itself.
 */
export function optionFor(options: unknown, allowed: boolean): string | null {
  const wanted = allowed ? ['allow_once', 'allow_always'] : ['reject_once', 'reject_always'];
  const offered: readonly JsonObject[] = objectsOf(options);
  for (const kind of wanted) {
    const id = textOf(offered.find((option) => option['kind'] === kind)?.['optionId']);
    if (id !== '') return id;
  }
  return null;
}

/** What was refused, for people. */
export function refusedText(call: AcpToolCall): string {
  const what = call.command || call.paths.join(', ') || call.title;
  return [call.kind || 'tool', what].filter((part) => part !== '').join(': ');
}

/** The command without the shell that some agents put around each. */
function bareCommand(command: string): string {
  return command.trim().replace(/^(?:\/(?:usr\/)?bin\/)?(?:ba|z)?sh -l?c (['"]?)(.*)\1$/s, '$2');
}
