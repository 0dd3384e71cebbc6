import type { AgentEvent } from './agent.js';
import { type JsonObject, textOf } from './jsonLine.js';

/** Follows the plan that Claude Code keeps with its task tools, one task a call. */
export interface ClaudeTasks {
  /** The events of a call to a task tool, or null if the tool is another one. */
  called(id: string, tool: string, input: JsonObject): readonly AgentEvent[] | null;
  /** The events of a task tool's answer, or null if the call was another one's. */
  answered(id: string, text: string): readonly AgentEvent[] | null;
}

export function claudeTasks(): ClaudeTasks {
  const subjects = new Map<string, string>();
  const plan = new Map<string, { text: string; done: boolean }>();
  return {
    called(id, tool, input) {
      switch (tool) {
        case 'TaskCreate':
          subjects.set(id, textOf(input['subject']) || textOf(input['description']));
          return [];
        case 'TaskUpdate':
          return update(textOf(input['taskId']), input);
        default:
          return null;
      }
    },
    answered(id, text) {
      const subject = subjects.get(id);
      if (subject === undefined) return null;
      subjects.delete(id);
      // The number that the plan knows the task by is told in the answer only.
      const number = /#(\d+)/.exec(text)?.[1];
      if (number === undefined) return [];
      plan.set(number, { text: subject, done: false });
      return planEvents();
    },
  };

  function update(number: string, input: JsonObject): readonly AgentEvent[] {
    const task = plan.get(number);
    if (task === undefined) return [];
    if (input['status'] === 'deleted') plan.delete(number);
    else
      plan.set(number, {
        text: textOf(input['subject']) || task.text,
        done: input['status'] === 'completed',
      });
    return planEvents();
  }

  function planEvents(): readonly AgentEvent[] {
    return [{ type: 'next', items: [...plan.values()] }];
  }
}
