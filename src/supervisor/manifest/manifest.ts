import type { InputError } from '../../protocol/request.js';
import type { Executor } from '../agents/agent.js';
import { adapters } from '../agents/index.js';
import { knownExecutors, mergeExecutor, type Profile } from './executors.js';
import { expandTasks, type DraftTask } from './tasks.js';
import { looseManifest, type ReadManifest } from './loose.js';
import { policyOf, type PolicyDefaults } from './policy.js';
import { programsIn, readPlan, type ReadPlan } from './localPlan.js';
import { titleOf, type NamedProgram, type Plan, type PlannedTask } from './plan.js';
import { checkShape, type Manifest } from './shape.js';
import { readSource, type ManifestKind, type Source } from './source.js';
import { durationOf, suggestion } from './words.js';

export interface ManifestInput {
  readonly kind: ManifestKind;
  readonly text: string;
  /** Base name of the file, for the batch's name; may be empty. */
  readonly name: string;
  readonly path?: string | undefined;
  /** What the command line or the form says over the manifest; `executor` may be a chain, `claude,codex`. */
  readonly executor?: string | undefined;
  readonly maxConcurrent?: number | undefined;
  readonly isolation?: 'worktree' | 'shared' | undefined;
}

/** What the person's settings give where the manifest says nothing. Durations in ms. */
export interface ManifestDefaults extends PolicyDefaults {
  readonly executors: Readonly<Record<string, Profile>>;
  readonly defaultExecutor: string;
  readonly maxConcurrent: number;
  readonly check: readonly string[] | null;
  readonly timeout: { readonly idle: number; readonly total: number | null };
}

export type ParsedManifest =
  | { readonly ok: true; readonly plan: Plan; readonly programs: readonly NamedProgram[] }
  | { readonly ok: false; readonly errors: readonly InputError[] };

/** Reads a manifest of any kind into a plan, or says every error at once, each with its line and what to write. */
export function parseManifest(input: ManifestInput, defaults: ManifestDefaults): ParsedManifest {
  const source = readSource(input.kind, input.text);
  if (source.value === null && source.errors.length > 0) return { ok: false, errors: sorted(source.errors) };
  const shape = checkShape(source);
  const errors: InputError[] = [...source.errors, ...shape.errors];
  // What the shape refused was told; the rest is looked at all the same, so that every mistake is told at once.
  const read = shape.manifest === null ? looseManifest(source.value, shape.refused) : whole(shape.manifest);
  const { manifest } = read;
  const executors = new Map<string, Executor>();
  const chainOf = (names: readonly string[], path: readonly (string | number)[]) =>
    checkChain(names, path, { read, defaults, source, executors, errors });

  const wholeChain = input.executor === undefined ? manifest.executor : input.executor.split(',');
  const batchChain = chainOf(
    wholeChain ?? [defaults.defaultExecutor],
    wholeChain === undefined || input.executor !== undefined ? [] : ['executor'],
  );
  for (const [role, names] of Object.entries(manifest.roles ?? {})) chainOf(names, ['roles', role]);
  for (const name of Object.keys(manifest.executors ?? {})) chainOf([name], ['executors', name]);

  const drafts = expandTasks(read, source, errors);
  const timeout = timeoutOf(manifest.timeout, defaults.timeout);
  const tasks = drafts.map((draft): PlannedTask => {
    const chain = input.executor !== undefined ? batchChain : taskChain(draft, read, source, errors, chainOf);
    return {
      id: draft.id,
      title: draft.title ?? (titleOf(draft.prompt) || draft.id),
      prompt: draft.prompt,
      chain: chain ?? batchChain,
      files: draft.files ?? null,
      check: draft.check ?? null,
      timeout: timeoutOf(draft.timeout, timeout),
    };
  });
  const budget = manifest.maxTotalSpawned ?? tasks.length;
  const excess = tasks.length - budget;
  // Where a whole list was refused, nobody knows how many there are.
  if (excess > 0 && !['tasks', 'items', 'template'].some((key) => read.wasRefused([key])))
    errors.push({
      line: source.lineOf(['maxTotalSpawned']),
      message: `${tasks.length} tasks, but maxTotalSpawned allows ${budget}`,
      fix: `Write maxTotalSpawned: ${tasks.length} or remove ${excess === 1 ? '1 task' : `${excess} tasks`}.`,
    });
  drafts.forEach((draft, i) => {
    const plan = read.wasRefused([...draft.path, 'prompt']) ? null : planOf(tasks[i], manifest, executors);
    if (plan !== null && !plan.ok && executors.get(tasks[i]?.chain[0] ?? '')?.adapter === 'local')
      errors.push({
        line: source.lineOf([...draft.path, 'prompt']),
        message: `Task "${draft.id}" is for an executor without a model, and is no plan: ${plan.problem}`,
        fix: 'Write its steps, such as "- run: npx jscodeshift …", in a fenced block if there is a context; or give the executor a command.',
      });
  });
  if (errors.length > 0) return { ok: false, errors: sorted(errors) };

  const used = new Set(tasks.flatMap((task) => task.chain));
  const plan: Plan = {
    name: manifest.name ?? (baseName(input.name) || batchNameOf(tasks)),
    isolation: input.isolation ?? manifest.isolation ?? 'worktree',
    maxConcurrent: input.maxConcurrent ?? manifest.maxConcurrent ?? defaults.maxConcurrent,
    maxTotalSpawned: budget,
    context: manifest.context ?? '',
    check: manifest.check === undefined ? defaults.check : manifest.check,
    timeout,
    policy: policyOf(manifest.policy, defaults),
    tasks,
    executors: Object.fromEntries([...executors].filter(([name]) => used.has(name))),
    source: input.path ?? null,
  };
  return { ok: true, plan, programs: [...programsOf(manifest, plan), ...plannedPrograms(manifest, plan)] };
}

/** A batch without a name is called by its first task, and how many come with it. */
function batchNameOf(tasks: readonly PlannedTask[]): string {
  const first = titleOf(tasks[0]?.title ?? '', 40);
  return tasks.length > 1 ? `${first} +${tasks.length - 1}` : first;
}

/** The programs that the input itself names, for the question before they run; empty where it is not readable. */
export function programsNamedBy(input: ManifestInput, defaults: ManifestDefaults): readonly NamedProgram[] {
  const parsed = parseManifest(input, defaults);
  return parsed.ok ? parsed.programs : [];
}

function programsOf(manifest: Manifest, plan: Plan): readonly NamedProgram[] {
  const programs: NamedProgram[] = [];
  for (const [name, own] of Object.entries(manifest.executors ?? {})) {
    const executor = plan.executors[name];
    // Arguments and environment steer a program as well as its name does.
    const steers = own.command ?? own.args ?? own.env ?? (own.permissions === 'full' || undefined);
    if (executor === undefined || steers === undefined) continue;
    const program =
      executor.command.length > 0 ? executor.command : [adapters[executor.adapter]?.programs[0] ?? name];
    programs.push({
      use: `executor ${name}`,
      command: [
        ...Object.entries(own.env ?? {}).map(([key, value]) => `${key}=${value}`),
        ...program,
        ...executor.args,
      ],
      full: own.permissions === 'full',
    });
  }
  const checks = [manifest.check, ...plan.tasks.map((task) => task.check)];
  for (const check of new Set(checks.map((words) => JSON.stringify(words ?? null))))
    if (check !== 'null')
      programs.push({ use: 'check', command: JSON.parse(check) as string[], full: false });
  return programs;
}

/** The plan that a task is, where one of its executors has no model and no program; null for all other tasks. */
function planOf(
  task: PlannedTask | undefined,
  manifest: Manifest,
  executors: ReadonlyMap<string, Executor>,
): ReadPlan | null {
  const plain = task?.chain.some((name) => {
    const executor = executors.get(name);
    return executor?.adapter === 'local' && executor.command.length === 0;
  });
  if (task === undefined || plain !== true) return null;
  return readPlan([manifest.context ?? '', task.prompt].filter((text) => text.trim() !== '').join('\n\n'));
}

/** A plan names programs too. */
function plannedPrograms(manifest: Manifest, plan: Plan): readonly NamedProgram[] {
  const executors = new Map(Object.entries(plan.executors));
  return plan.tasks.flatMap((task) => {
    const read = planOf(task, manifest, executors);
    if (read === null || !read.ok) return [];
    return programsIn(read.steps).map((command) => ({ use: `task ${task.id}`, command, full: false }));
  });
}

function whole(manifest: Manifest): ReadManifest {
  return { manifest, wasRefused: () => false };
}

interface ChainContext {
  readonly read: ReadManifest;
  readonly defaults: ManifestDefaults;
  readonly source: Source;
  readonly executors: Map<string, Executor>;
  readonly errors: InputError[];
}

function checkChain(
  names: readonly string[],
  path: readonly (string | number)[],
  context: ChainContext,
): readonly string[] {
  const { read, defaults, source, executors, errors } = context;
  const own = read.manifest.executors ?? {};
  for (const name of names) {
    if (executors.has(name)) continue;
    const described = Object.hasOwn(own, name) ? own[name] : undefined;
    const merged = mergeExecutor(name, described, defaults.executors[name]);
    if (merged === null && read.wasRefused(['executors', name, 'adapter'])) continue;
    if (merged === null && described !== undefined) {
      const line = source.lineOf(['executors', name]);
      const message = `Executor "${name}" has no adapter`;
      // It may be wanted by many tasks, and lacks it once.
      if (!errors.some((error) => error.line === line && error.message === message))
        errors.push({
          line,
          message,
          fix: `Add it, such as "adapter: claude"; known are ${Object.keys(adapters).join(', ')}.`,
        });
    } else if (merged === null) {
      const known = knownExecutors(own, defaults.executors);
      const near = suggestion(name, known);
      errors.push({
        line: path.length === 0 ? null : source.lineOf(path),
        message: `Unknown executor "${name}"`,
        fix:
          near === null
            ? `Write one of ${known.join(', ')}, or describe it under executors.`
            : `Write "${near}".`,
      });
    } else if (!Object.hasOwn(adapters, merged.adapter)) {
      const near = suggestion(merged.adapter, Object.keys(adapters));
      errors.push({
        line: source.lineOf(['executors', name, 'adapter']),
        message: `Executor "${name}" has the unknown adapter "${merged.adapter}"`,
        fix:
          near === null ? `Write one of ${Object.keys(adapters).join(', ')}.` : `Write "adapter: ${near}".`,
      });
      executors.set(name, merged);
    } else {
      const adapter = adapters[merged.adapter];
      const needsOne = adapter?.programs.length === 0 && adapter.needsNoProgram !== true;
      if (needsOne && merged.command.length === 0 && !read.wasRefused(['executors', name, 'command']))
        errors.push({
          line:
            path.length === 0 ? null : source.lineOf(described === undefined ? path : ['executors', name]),
          message: `Executor "${name}" has no command`,
          fix: `Add it: executors: { ${name}: { adapter: ${merged.adapter}, command: [program, argument] } }.`,
        });
      executors.set(name, merged);
    }
  }
  return names;
}

function taskChain(
  draft: DraftTask,
  { manifest, wasRefused }: ReadManifest,
  source: Source,
  errors: InputError[],
  chainOf: (names: readonly string[], path: readonly (string | number)[]) => readonly string[],
): readonly string[] | null {
  if (draft.executor !== undefined) return chainOf(draft.executor, [...draft.path, 'executor']);
  if (draft.role === undefined) return null;
  const chain = manifest.roles?.[draft.role];
  if (chain === undefined) {
    if (wasRefused(['roles', draft.role])) return null;
    const roles = Object.keys(manifest.roles ?? {});
    const near = suggestion(draft.role, roles);
    errors.push({
      line: source.lineOf([...draft.path, 'role']),
      message: `Unknown role "${draft.role}"`,
      fix:
        near !== null
          ? `Write "${near}".`
          : roles.length > 0
            ? `Write one of ${roles.join(', ')}.`
            : `Add roles: { ${draft.role}: [claude] }.`,
    });
    return null;
  }
  return chain;
}

function timeoutOf(
  timeout: Manifest['timeout'],
  otherwise: { readonly idle: number; readonly total: number | null },
): { readonly idle: number; readonly total: number | null } {
  return {
    idle: (timeout?.idle === undefined ? null : durationOf(timeout.idle)) ?? otherwise.idle,
    total:
      timeout?.total === undefined
        ? otherwise.total
        : timeout.total === null
          ? null
          : durationOf(timeout.total),
  };
}

function baseName(name: string): string {
  return name.replace(/^.*[/\\]/, '').replace(/\.[^.]+$/, '');
}

function sorted(errors: readonly InputError[]): readonly InputError[] {
  return [...errors].sort((a, b) => (a.line ?? 0) - (b.line ?? 0));
}
