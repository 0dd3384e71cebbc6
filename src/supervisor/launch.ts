import { realpath } from 'node:fs/promises';
import { dirname } from 'node:path';
import { batchPlace } from '../protocol/places.js';
import type { Answer, InputError, Request } from '../protocol/request.js';
import { durably, refused, type RequestContext } from './answers.js';
import { adapters } from './agents/index.js';
import type { SupervisorOptions } from './api.js';
import type { Task } from './core/state.js';
import { isDiskError, messageOf, type EffectContext } from './effects/context.js';
import { resolveEnvironment } from './effects/environment.js';
import { resolveProgram } from './effects/prepare.js';
import { isWithin } from './effects/within.js';
import { planWithoutSecrets, secretsInCommands, secretsTaken } from './launchSecrets.js';
import { parseManifest, type ManifestDefaults } from './manifest/manifest.js';
import type { NamedProgram, Plan } from './manifest/plan.js';
import { storedPlan } from './manifest/stored.js';
import { defaultCheck } from './node/git/index.js';
import type { Git, Repository } from './ports.js';

type Launch = Request & { readonly type: 'launch' };

/** Everything that can be wrong is looked at before anything is written; then the batch is one event. */
export async function launch({ context, options, plans }: RequestContext, wanted: Launch): Promise<Answer> {
  const checked = await preflight(options, context.repository, wanted);
  if (!checked.ok) return checked.answer;
  if (!context.mayAct()) return refused(3, 'Another process has taken this folder over', 'Ask again.');
  const { plan, notes } = checked;
  try {
    const id = newBatchId(context, plan.name);
    const base = await context.git.baseCommit(context.repository, {
      uncommitted: context.settings.worktrees.includeUncommitted,
      ref: `refs/swarm/${id}/base`,
    });
    await context.store.write(
      `${batchPlace(id)}/batch.json`,
      storedPlan(plan, new Date(context.clock.now()).toISOString()),
    );
    plans.remember(id, plan);
    const answer = await durably(context, {
      type: 'batchLaunched',
      batch: {
        id,
        name: plan.name,
        isolation: plan.isolation,
        maxConcurrent: plan.maxConcurrent,
        policy: plan.policy,
        timeout: plan.timeout,
        check: plan.check,
        base,
      },
      tasks: tasksOf(plan),
    });
    return answer.ok ? { ok: true, batch: id, notes } : answer;
  } catch (error) {
    return refused(
      3,
      messageOf(error),
      isDiskError(error) ? 'Free some space, then launch again.' : 'See the log.',
    );
  }
}

/** Reads the manifest and looks for programs and variables. Writes nothing. */
export async function preflight(
  options: SupervisorOptions,
  repository: Repository,
  wanted: Launch,
): Promise<
  | { readonly ok: true; readonly plan: Plan; readonly notes: readonly string[] }
  | { readonly ok: false; readonly answer: Answer }
> {
  const detected = await defaultCheck(repository.topLevel);
  const defaults: ManifestDefaults = {
    ...options.settings,
    check: options.settings.check ?? detected?.command ?? null,
  };
  const parsed = parseManifest(
    {
      ...wanted.manifest,
      executor: wanted.executor,
      maxConcurrent: wanted.maxConcurrent,
      isolation: wanted.isolation,
    },
    defaults,
  );
  if (!parsed.ok) return { ok: false, answer: { ok: false, code: 2, errors: parsed.errors } };
  const { programs } = parsed;
  const told = secretsInCommands(parsed.plan);
  if (told.length > 0) return { ok: false, answer: { ok: false, code: 2, errors: told } };
  const plan = planWithoutSecrets(parsed.plan);
  const bold = await boldPrograms(options, repository, wanted.manifest.path, programs);
  if (bold.length > 0) return { ok: false, answer: { ok: false, code: 2, errors: bold } };
  if (programs.length > 0 && !wanted.consent) return { ok: false, answer: needsConsent(programs) };
  const errors = await missingParts(options, repository, plan);
  if (errors.length > 0) return { ok: false, answer: { ok: false, code: 3, errors } };
  const setup = options.settings.worktrees.setup.length > 0;
  const problem =
    plan.isolation === 'worktree' ? await options.git.launchProblem(repository, { setup }) : null;
  if (problem !== null) return { ok: false, answer: refused(3, problem.message, problem.fix) };
  return { ok: true, plan, notes: secretsTaken(parsed.plan) };
}

/**
 * All permissions are never taken from a file of the repository: whoever can write to it would hand them out. A
 * person's own settings may give them to an executor of the same name.
 */
async function boldPrograms(
  { settings, git }: SupervisorOptions,
  repository: Repository,
  file: string | undefined,
  programs: readonly NamedProgram[],
): Promise<readonly InputError[]> {
  const bold = boldOf(programs, settings.executors);
  if (bold.length === 0 || (file !== undefined && !(await isOfRepository(git, repository, file)))) return [];
  return bold.map(({ name }) => ({
    line: null,
    message: `Executor "${name}": permissions: full is not taken from a file of the repository`,
    fix: `Remove it here, or give it in your own settings: "swarm.executors": { "${name}": { "permissions": "full", … } }.`,
  }));
}

/** Executors that get all permissions from the manifest, and not from the person's own settings. */
export function boldOf(
  programs: readonly NamedProgram[],
  own: SupervisorOptions['settings']['executors'],
): readonly { readonly name: string; readonly command: readonly string[] }[] {
  return programs
    .filter(({ full }) => full)
    .map(({ use, command }) => ({ name: use.replace(/^executor /, ''), command }))
    .filter(({ name }) => own[name]?.permissions !== 'full');
}

/** Whether a file lies in the repository: in its tree, its `.git` or any of its worktrees, where children write. */
export async function isOfRepository(git: Git, repository: Repository, file: string): Promise<boolean> {
  const real = await realpath(file).catch(() => file);
  const places = [repository.topLevel, repository.commonDir];
  if (places.some((place) => isWithin(place, file) || isWithin(place, real))) return true;
  const around = await git.inspect(dirname(real));
  return around.ok && around.commonDir === repository.commonDir;
}

function needsConsent(programs: readonly NamedProgram[]): Answer {
  return {
    ok: false,
    code: 2,
    errors: programs.map((program) => ({
      line: null,
      message: `The manifest names a program for ${program.use}: ${program.command.join(' ')}${program.full ? ' (with all permissions)' : ''}`,
      fix: 'Agree to it first.',
    })),
  };
}

/** A chain needs one executor that can start; what a later one lacks is said when it is wanted. */
async function missingParts(
  options: SupervisorOptions,
  repository: Repository,
  plan: Plan,
): Promise<readonly InputError[]> {
  const problems = new Map<string, InputError>();
  for (const [name, executor] of Object.entries(plan.executors)) {
    const adapter = adapters[executor.adapter];
    if (adapter === undefined) continue;
    const program = await resolveProgram({ ...options, repository }, executor, adapter);
    const env = resolveEnvironment(options.env, executor);
    if (!program.ok)
      problems.set(name, {
        line: null,
        message: `Executor "${name}": ${program.message}`,
        fix: program.fix,
      });
    else if (!env.ok)
      problems.set(name, {
        line: null,
        message: `Executor "${name}" needs the environment variable ${env.missing}, which is not set`,
        fix: `Set ${env.missing}, then launch again.`,
      });
  }
  const stuck = plan.tasks.filter((task) => task.chain.every((name) => problems.has(name)));
  const names = new Set(stuck.flatMap((task) => task.chain));
  return [...names].flatMap((name) => problems.get(name) ?? []);
}

function tasksOf(plan: Plan): readonly Task[] {
  return plan.tasks.map((task) => ({
    id: task.id,
    title: task.title,
    chain: task.chain.flatMap((name) => {
      const executor = plan.executors[name];
      return executor === undefined
        ? []
        : [
            {
              name,
              adapter: executor.adapter,
              credential: executor.credential,
              model: executor.model,
            },
          ];
    }),
    files: task.files,
    timeout: task.timeout,
    check: task.check,
    promptTokens: Math.ceil((plan.context.length + task.prompt.length) / 4),
  }));
}

/** Readable, valid as an id, and never used before in this folder. */
function newBatchId(context: EffectContext, name: string): string {
  const slug = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 40);
  for (;;) {
    const id = `${slug === '' ? 'batch' : slug}-${context.random(3)}`;
    if (context.state().batches[id] === undefined) return id;
  }
}
