import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  commands,
  contextKeys,
  panelView,
  restrictedSettings,
  settings,
  taskType,
  viewContainer,
} from '../../../src/extension/contributions.js';
import { texts } from '../../../src/webview/texts.js';
import { parseSettings } from '../../../src/supervisor/settings.js';

interface Manifest {
  readonly main: string;
  readonly extensionKind: readonly string[];
  readonly capabilities: {
    readonly untrustedWorkspaces: {
      readonly supported: string;
      readonly restrictedConfigurations: readonly string[];
    };
    readonly virtualWorkspaces: { readonly supported: boolean };
  };
  readonly contributes: {
    readonly viewsContainers: { readonly activitybar: readonly { readonly id: string }[] };
    readonly views: Readonly<Record<string, readonly { readonly id: string; readonly type: string }[]>>;
    readonly commands: readonly { readonly command: string; readonly title: string }[];
    readonly menus: Readonly<Record<string, readonly { readonly command: string; readonly when?: string }[]>>;
    readonly configuration: {
      readonly properties: Readonly<Record<string, { readonly scope?: string; readonly default: unknown }>>;
    };
    readonly taskDefinitions: readonly { readonly type: string }[];
  };
}

const text = readFileSync('package.json', 'utf8');
const manifest = JSON.parse(text) as Manifest;
const nls = JSON.parse(readFileSync('package.nls.json', 'utf8')) as Readonly<Record<string, string>>;
const bundleFile = 'l10n/bundle.l10n.json';
const { contributes } = manifest;

describe('what package.json contributes', () => {
  it('declares exactly the commands of the table', () => {
    expect(contributes.commands.map(({ command }) => command).sort()).toEqual(Object.values(commands).sort());
  });

  it('declares exactly the settings of the table', () => {
    const names = Object.keys(contributes.configuration.properties).sort();
    expect(names).toEqual(
      Object.values(settings)
        .map((name) => `swarm.${name}`)
        .sort(),
    );
  });

  it('has defaults that are the same as where nothing is set', () => {
    const defaults = Object.fromEntries(
      Object.entries(contributes.configuration.properties).map(([name, property]) => [
        name,
        property.default,
      ]),
    );
    expect(parseSettings(defaults)).toEqual(parseSettings({}));
  });

  it('keeps settings that name programs from a folder that is not trusted', () => {
    const restricted = restrictedSettings.map((name) => `swarm.${name}`);
    expect([...manifest.capabilities.untrustedWorkspaces.restrictedConfigurations].sort()).toEqual(
      [...restricted].sort(),
    );
    for (const name of restricted)
      expect([name, contributes.configuration.properties[name]?.scope]).toEqual([
        name,
        'machine-overridable',
      ]);
  });

  it('has the views and the task type of the table', () => {
    expect(contributes.viewsContainers.activitybar.map(({ id }) => id)).toEqual([viewContainer]);
    expect(contributes.views[viewContainer]).toMatchObject([{ id: panelView, type: 'webview' }]);
    expect(contributes.taskDefinitions.map(({ type }) => type)).toEqual([taskType]);
  });

  it('runs where the files are, and not untrusted or without a disk', () => {
    expect(manifest.extensionKind).toEqual(['workspace']);
    expect(manifest.capabilities.untrustedWorkspaces.supported).toBe('limited');
    expect(manifest.capabilities.virtualWorkspaces.supported).toBe(false);
  });

  it('names only commands and context keys that exist in its menus', () => {
    const known = new Set<string>(Object.values(commands));
    const keys = new Set<string>(Object.values(contextKeys));
    for (const item of Object.values(contributes.menus).flat()) {
      expect(known).toContain(item.command);
      for (const [key] of item.when?.matchAll(/swarm:\w+/g) ?? []) expect(keys).toContain(key);
    }
  });
});

describe('texts', () => {
  it('of package.json are all in package.nls.json, and no other is', () => {
    const used = [...text.matchAll(/"%([^%"]+)%"/g)].map((match) => match[1] ?? '');
    expect([...new Set(used)].sort()).toEqual(Object.keys(nls).sort());
  });

  it('of the extension are all in the bundle for translators, and no other is', () => {
    const own = sources('src/extension').flatMap(translated);
    const wanted = [...new Set([...own, ...Object.values<string>(texts)])].sort();
    if (process.env['UPDATE'] === '1')
      writeFileSync(
        bundleFile,
        JSON.stringify(Object.fromEntries(wanted.map((text) => [text, text])), null, 2) + '\n',
      );
    const bundle = JSON.parse(readFileSync(bundleFile, 'utf8')) as Readonly<Record<string, string>>;
    // UPDATE=1 writes the file anew.
    expect(Object.keys(bundle).sort()).toEqual(wanted);
  });
});

function sources(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => readFileSync(path.join(folder, file), 'utf8'));
}

/** The first arguments of `l10n.t(…)` and `t(…)`. */
function translated(source: string): readonly string[] {
  return [...source.matchAll(/\bt\(\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")/g)].map((match) =>
    (match[1] ?? match[2] ?? '').replace(/\\(.)/g, '$1'),
  );
}
