import { z } from 'zod';
import type { InputError } from '../../protocol/request.js';
import type { Source } from './source.js';
import { durationPattern, quietPattern, splitCommand, suggestion } from './words.js';

const duration = z.string().regex(durationPattern);
const command = z.union([
  z
    .string()
    .min(1)
    .refine((text) => (splitCommand(text)?.length ?? 0) > 0)
    .transform((text) => splitCommand(text) ?? [text]),
  z.array(z.string().min(1)).min(1),
]);
const chain = z.union([
  z
    .string()
    .min(1)
    .transform((name) => [name]),
  z.array(z.string().min(1)).min(1),
]);
const consent = z.enum(['auto', 'ask', 'never']);
const percent = z.union([
  z.number().min(1).max(100),
  z
    .string()
    .regex(/^(100|[1-9]?\d(\.\d+)?)\s*%$/)
    .transform((text) => Number.parseFloat(text)),
]);
const timeout = z.strictObject({
  idle: duration.optional(),
  total: duration.nullable().optional(),
});

/** Windows and failure classes that a consent can be given for. */
export const consentKeys = [
  'minute',
  'five_hour',
  'daily',
  'weekly',
  'monthly',
  'unknown',
  'usage_limit',
  'rate_limit',
  'credits_exhausted',
  'overloaded',
  'stream_interrupted',
  'network',
  'auth_expired',
  'auth_denied',
  'timeout',
  'context_overflow',
  'process_crash',
] as const;

const executor = z.strictObject({
  adapter: z.string().min(1).optional(),
  command: command.optional(),
  args: z.array(z.union([z.string(), z.number(), z.boolean()]).transform(String)).optional(),
  env: z
    .record(
      z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/),
      z.union([z.string(), z.number(), z.boolean()]).transform(String),
    )
    .optional(),
  model: z.string().min(1).optional(),
  credential: z.string().min(1).optional(),
  permissions: z.enum(['edit', 'full']).optional(),
});

const task = z.strictObject({
  id: z.union([z.string(), z.number().int()]).transform(String).optional(),
  title: z.string().optional(),
  prompt: z.string(),
  executor: chain.optional(),
  role: z.string().min(1).optional(),
  files: z.array(z.string().min(1)).min(1).optional(),
  check: command.nullable().optional(),
  timeout: timeout.optional(),
});

const item = z.union([z.string(), z.number(), z.boolean()]).transform(String);

const policy = z.strictObject({
  consent: z
    .strictObject(
      Object.fromEntries(consentKeys.map((key) => [key, consent.optional()])) as Record<
        (typeof consentKeys)[number],
        z.ZodOptional<typeof consent>
      >,
    )
    .optional(),
  probe: z.array(duration).min(1).optional(),
  margin: duration.optional(),
  ramp: z.number().int().min(1).max(1000).optional(),
  maxAutoResumes: z.number().int().min(0).max(1000).optional(),
  holdAbove: percent.optional(),
  fallbackAfter: duration.nullable().optional(),
  quietHours: z.string().regex(quietPattern).nullable().optional(),
  tokensPerWake: z.number().int().min(1).nullable().optional(),
});

/** The shape of a manifest. What its parts mean together is checked after. */
const manifest = z.strictObject({
  version: z.literal(1),
  name: z.string().min(1).max(200).optional(),
  executor: chain.optional(),
  executors: z.record(z.string(), executor).optional(),
  roles: z.record(z.string(), chain).optional(),
  isolation: z.enum(['worktree', 'shared']).optional(),
  maxConcurrent: z.number().int().min(1).max(1000).optional(),
  maxTotalSpawned: z.number().int().min(1).optional(),
  context: z.string().optional(),
  check: command.nullable().optional(),
  timeout: timeout.optional(),
  tasks: z.array(task).optional(),
  template: z.string().min(1).optional(),
  items: z.array(item).optional(),
  policy: policy.optional(),
});

export type Manifest = z.infer<typeof manifest>;
export type ManifestExecutor = z.infer<typeof executor>;

/** What to write, by the last key of the path. */
const examples: Readonly<Record<string, string>> = {
  version: 'version: 1',
  name: 'name: my-batch',
  executor: 'executor: claude, or a list such as [claude, codex]',
  executors: 'executors: { mine: { adapter: command, command: [node, agent.mjs] } }',
  roles: 'roles: { developer: [claude, codex] }',
  isolation: 'isolation: worktree, or isolation: shared',
  maxConcurrent: 'maxConcurrent: 4 (a whole number from 1 to 1000)',
  maxTotalSpawned: 'maxTotalSpawned: 10 (a whole number from 1 up)',
  context: 'context: a text that is put before each prompt',
  check: 'check: npx tsc --noEmit, or a list of words',
  timeout: 'timeout: { idle: 10m, total: 2h }',
  idle: 'idle: 10m (durations are 4s, 15m, 1h)',
  total: 'total: 2h (durations are 4s, 15m, 1h)',
  tasks: 'tasks: a list of { prompt: … }',
  template: 'template: a text with {{item}} in it',
  items: 'items: [first, second]',
  policy: 'policy: { probe: [15m, 30m, 1h] }',
  consent: 'consent: { weekly: ask } with auto, ask or never',
  probe: 'probe: [15m, 30m, 1h]',
  margin: 'margin: 1s',
  ramp: 'ramp: 1 (a whole number from 1 up)',
  maxAutoResumes: 'maxAutoResumes: 3 (a whole number from 0 up)',
  holdAbove: 'holdAbove: 95 (percent, 1 to 100)',
  fallbackAfter: 'fallbackAfter: 30m',
  quietHours: 'quietHours: "23:00-07:00"',
  tokensPerWake: 'tokensPerWake: 200000 (a whole number from 1 up)',
  id: 'id: a-name of letters, digits, - and _',
  title: 'title: a short text',
  prompt: 'prompt: what the agent shall do',
  role: 'role: developer',
  files: 'files: ["src/**"]',
  adapter: 'adapter: claude, codex, kimi or command',
  command: 'command: [node, agent.mjs]',
  args: 'args: ["--flag", value]',
  env: 'env: { NAME: "${env:NAME}" }',
  model: 'model: its name',
  credential: 'credential: the name of the account',
  permissions: 'permissions: edit',
};

/** The way to a part of a manifest. */
export type ManifestPath = readonly (string | number)[];

/** Checks the shape; every issue becomes an error with its line and what to write instead. */
export function checkShape(source: Source): {
  readonly manifest: Manifest | null;
  readonly errors: readonly InputError[];
  /** What cannot be read. */
  readonly refused: readonly ManifestPath[];
} {
  const parsed = manifest.safeParse(source.value);
  if (parsed.success) return { manifest: parsed.data, errors: [], refused: [] };
  const { issues } = parsed.error;
  return {
    manifest: null,
    errors: issues.flatMap((issue) => errorsOf(issue, source)),
    refused: issues.flatMap((issue) =>
      issue.code === 'unrecognized_keys' ? issue.keys.map((key) => [...pathOf(issue), key]) : [pathOf(issue)],
    ),
  };
}

function pathOf(issue: z.core.$ZodIssue): ManifestPath {
  return issue.path.map((step) => (typeof step === 'symbol' ? String(step) : step));
}

function errorsOf(issue: z.core.$ZodIssue, source: Source): readonly InputError[] {
  const path = pathOf(issue);
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => {
      const known = knownKeys(path);
      const near = suggestion(key, known);
      return {
        line: source.lineOf(path, key),
        message: `Unknown key "${key}"${path.length === 0 ? '' : ` in ${pathText(path)}`}`,
        fix: near === null ? `Remove it; known are ${known.join(', ')}.` : `Write "${near}".`,
      };
    });
  if (path.length === 0)
    return [
      {
        line: 1,
        message:
          source.value === null || source.value === undefined
            ? 'The manifest is empty: there are only comments in it'
            : `The manifest is ${Array.isArray(source.value) ? 'a list' : 'a single value'}, not keys with values`,
        fix: 'Begin with "version: 1" and a list "tasks:".',
      },
    ];
  const last = path.findLast((step): step is string => typeof step === 'string') ?? '';
  const missing = valueAt(source.value, path) === undefined;
  const example = examples[last] ?? examples[parentKey(path)] ?? 'another value';
  return [
    {
      line: source.lineOf(path),
      message: missing
        ? `${pathText(path)} is missing`
        : `${pathText(path)} ${problemOf(issue, source, path)}`,
      fix: `Write ${example}.`,
    },
  ];
}

function problemOf(issue: z.core.$ZodIssue, source: Source, path: readonly (string | number)[]): string {
  if (issue.code === 'invalid_value') {
    const value = valueAt(source.value, path);
    const near =
      typeof value === 'string'
        ? suggestion(
            value,
            issue.values.filter((known): known is string => typeof known === 'string'),
          )
        : null;
    return `is ${shown(value)}, not ${issue.values.map(String).join(' or ')}${near === null ? '' : ` (did you mean ${near}?)`}`;
  }
  if (issue.code === 'invalid_key') return 'is no valid name';
  return `cannot be ${shown(valueAt(source.value, path))}`;
}

function knownKeys(path: readonly (string | number)[]): readonly string[] {
  const names = path.filter((step): step is string => typeof step === 'string');
  if (names.at(-1) === 'consent') return consentKeys;
  if (names.at(-1) === 'timeout') return Object.keys(timeout.shape);
  if (names[0] === 'policy') return Object.keys(policy.shape);
  if (names[0] === 'executors') return Object.keys(executor.shape);
  if (names[0] === 'tasks') return Object.keys(task.shape);
  return Object.keys(manifest.shape);
}

function pathText(path: readonly (string | number)[]): string {
  return path
    .map((step, i) => (typeof step === 'number' ? `[${step + 1}]` : i === 0 ? step : `.${step}`))
    .join('');
}

function parentKey(path: readonly (string | number)[]): string {
  const names = path.filter((step): step is string => typeof step === 'string');
  return names.at(-2) ?? '';
}

function valueAt(value: unknown, path: readonly (string | number)[]): unknown {
  let found = value;
  for (const step of path) {
    if (typeof found !== 'object' || found === null) return undefined;
    found = (found as Readonly<Record<string, unknown>>)[String(step)];
  }
  return found;
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
