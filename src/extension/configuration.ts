import type * as vscode from 'vscode';
import type { NamedProgram } from '../supervisor/manifest/plan.js';
import { settings, type SettingName } from './contributions.js';
import type { Vscode } from './vscodeTypes.js';

/** The settings `swarm.*` as they stand for a folder, by name without the prefix. */
export function readConfiguration(
  vscode: Vscode,
  folder: string | null,
  warn: (message: string) => void,
): Readonly<Record<SettingName, unknown>> {
  const scope = folder === null ? null : vscode.Uri.file(folder);
  const configuration = vscode.workspace.getConfiguration('swarm', scope);
  const values = Object.fromEntries(
    Object.values(settings).map((name) => [name, configuration.get<unknown>(name)]),
  ) as Record<SettingName, unknown>;
  const own = configuration.inspect<unknown>(settings.executors)?.globalValue;
  return { ...values, [settings.executors]: withoutGivenPermissions(values[settings.executors], own, warn) };
}

/**
 * The programs that a folder's own settings name: they may have come with the repository, so that a person sees them
 * before they run. What the user's settings say too is the user's own.
 */
export function programsOfFolder(vscode: Vscode, folder: string): readonly NamedProgram[] {
  const configuration = vscode.workspace.getConfiguration('swarm', vscode.Uri.file(folder));
  const given = (name: SettingName): unknown => {
    const values = configuration.inspect<unknown>(name);
    const theirs = values?.workspaceFolderValue ?? values?.workspaceValue;
    return JSON.stringify(theirs) === JSON.stringify(values?.globalValue) ? undefined : theirs;
  };
  const programs: NamedProgram[] = [];
  const executors = given(settings.executors);
  const own = configuration.inspect<unknown>(settings.executors)?.globalValue;
  for (const [name, profile] of Object.entries(isRecord(executors) ? executors : {})) {
    if (!isRecord(profile)) continue;
    if (isRecord(own) && JSON.stringify(own[name]) === JSON.stringify(profile)) continue;
    const { command, args, env } = profile;
    if (command === undefined && args === undefined && env === undefined) continue;
    const variables = Object.entries(isRecord(env) ? env : {}).map(
      ([key, value]) => `${key}=${String(value)}`,
    );
    const program = wordsOf(command);
    programs.push({
      use: `executor ${name}`,
      command: [...variables, ...(program.length > 0 ? program : [name]), ...wordsOf(args)],
      full: false,
    });
  }
  for (const [use, name] of [
    ['check', settings.checkCommand],
    ['setup', settings.worktreesSetup],
  ] as const) {
    const command = wordsOf(given(name));
    if (command.length > 0) programs.push({ use, command, full: false });
  }
  return programs;
}

function wordsOf(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  return Array.isArray(value) ? value.map(String) : [];
}

/** One setting that the editor itself obeys. */
export function setting<T>(vscode: Vscode, name: SettingName, otherwise: T): T {
  return vscode.workspace.getConfiguration('swarm').get<T>(name) ?? otherwise;
}

/** Whether a change touches one of the settings. */
export function concerns(event: vscode.ConfigurationChangeEvent): boolean {
  return event.affectsConfiguration('swarm');
}

/**
 * An agent's bypass of all its permissions is a person's own choice: from a file of the repository it is not taken,
 * only from the user's settings.
 */
export function withoutGivenPermissions(
  executors: unknown,
  own: unknown,
  warn: (message: string) => void,
): unknown {
  if (!isRecord(executors)) return executors;
  return Object.fromEntries(
    Object.entries(executors).map(([name, profile]) => {
      if (!isRecord(profile) || profile['permissions'] !== 'full') return [name, profile];
      const mine = isRecord(own) ? own[name] : undefined;
      if (isRecord(mine) && mine['permissions'] === 'full') return [name, profile];
      warn(
        `swarm.executors: "permissions": "full" of ${name} is taken from the user's settings only, not from the folder's.`,
      );
      return [name, { ...profile, permissions: 'edit' }];
    }),
  );
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
