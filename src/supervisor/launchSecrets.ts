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
