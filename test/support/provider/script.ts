import type { Conversation, Reply, Step } from './wire.js';

/** What the model does for one child, and its last word. */
export interface Task {
  readonly steps: readonly Step[];
  readonly result: string;
}

/** A small coding task: looks at a file, writes a module and its use, runs a command. Five model calls with the last word. */
export function codingTask(
  name: string,
  options: { readonly read?: string; readonly shell?: string; readonly folder?: string } = {},
): Task {
  const folder = options.folder ?? 'src';
  return {
    steps: [
      { say: `I look at the project before I write ${name}.`, read: options.read ?? 'README.md' },
      {
        write: `${folder}/${name}.ts`,
        content: `export function ${name}(): string {\n  return '${name}';\n}\n`,
      },
      {
        write: `${folder}/${name}Use.ts`,
        content: `import { ${name} } from './${name}.js';\n\nexport const used = ${name}();\n`,
      },
      { say: 'I run it.', shell: options.shell ?? `ls ${folder}/${name}.ts` },
    ],
    result: `${name} is written and used.`,
  };
}

/** The task whose marker the prompts carry first, or null. */
export function taskOf(conversation: Conversation, tasks: Readonly<Record<string, Task>>): string | null {
  for (const prompt of conversation.prompts) {
    for (const match of prompt.matchAll(/task: ([A-Za-z0-9_-]+)/g)) {
      if (match[1] !== undefined && tasks[match[1]] !== undefined) return match[1];
    }
  }
  return null;
}

/**
 * The model's next move, told from the history alone: the first step that has no result, so that a session which
 * is resumed goes on where it stopped and a fresh one begins anew.
 */
export function nextReply(
  name: string,
  tasks: Readonly<Record<string, Task>>,
  conversation: Conversation,
): { readonly reply: Reply; readonly step: number | null } {
  const task = tasks[name];
  if (task === undefined) throw new Error(`No task ${name}`);
  const done = new Set<number>();
  let tries = 0;
  for (const [id, result] of conversation.results) {
    const index = callPattern.exec(id);
    if (index === null) continue;
    tries++;
    if (!brokenOff.test(result.slice(0, 600))) done.add(Number(index[1]));
  }
  const at = task.steps.findIndex((_step, index) => !done.has(index));
  const step = task.steps[at];
  if (step === undefined) return { reply: { text: task.result, call: null }, step: null };
  // The number of tries keeps the id of a repeated step apart from the first one's.
  return {
    reply: { text: step.say ?? '', call: { id: `call_${name.replaceAll('-', '_')}_s${at}n${tries}`, step } },
    step: at,
  };
}

const callPattern = /_s(\d+)n\d+$/;

/** What agents put in the place of a result that was never recorded. */
const brokenOff =
  /interrupted|aborted|Session closed|doesn't want to proceed|outcome is unknown|was not recorded/i;
