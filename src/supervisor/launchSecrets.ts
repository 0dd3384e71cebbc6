import type { InputError } from '../protocol/request.js';
import type { Executor } from './agents/agent.js';
import type { Plan } from './manifest/plan.js';
import { holdsSecret, redact } from './verdict/redact.js';

/**
 * A plan is kept on disk and its prompts go to a provider: what looks like a secret in its texts is taken out. It may
 * come by an executor's `env`, whose values are not stored.
 */
export function planWithoutSecrets(plan: Plan): Plan {
  return {
    ...plan,
    name: redact(plan.name),
    context: redact(plan.context),
    tasks: plan.tasks.map((task) => ({ ...task, title: redact(task.title), prompt: redact(task.prompt) })),
  };
}

/** Says whose text is not the one that was written: an agent that gets stars should surprise nobody. */
export function secretsTaken(plan: Plan): readonly string[] {
  const uses = [
    ...(holdsSecret(plan.context) ? ['the context'] : []),
    ...plan.tasks.filter(({ prompt }) => holdsSecret(prompt)).map(({ id }) => `the prompt of "${id}"`),
  ];
  if (uses.length === 0) return [];
  const named = uses.slice(0, mostNamed).join(', ');
  const more = uses.length > mostNamed ? ` and ${uses.length - mostNamed} more` : '';
  return [
    `What looks like a secret in ${named}${more} was taken out, and the agent does not get it. Name a variable of its environment instead.`,
  ];
}

const mostNamed = 5;

/** A command cannot run without the secret in it, and would be stored with it. */
export function secretsInCommands(plan: Plan): readonly InputError[] {
  const checks = [plan.check, ...plan.tasks.map((task) => task.check)].flatMap((check) => check ?? []);
  const uses = [
    { use: 'The check', held: checks.some(holdsSecret) || holdsSecret(checks.join(' ')) },
    ...Object.values(plan.executors).map((executor) => ({
      use: `Executor "${executor.name}"`,
      held: holdsSecretInLine(executor),
    })),
  ];
  return uses
    .filter(({ held }) => held)
    .map(({ use }) => ({
      line: null,
      message: `${use} holds what looks like a secret, which would be written to disk`,
      fix: 'Take it from the environment: env: { NAME: "${env:NAME}" } of the executor, or a variable that the program reads itself.',
    }));
}

function holdsSecretInLine({ command, args, model, credential }: Executor): boolean {
  const words = [...command, ...args, model ?? '', credential];
  return words.some(holdsSecret) || holdsSecret(words.join(' '));
}
