import { expect, it } from 'vitest';
import { createLaunching } from '../../../src/extension/actions/launching.js';
import type { Engine } from '../../../src/extension/engine.js';
import type { WorkspaceSupervisors } from '../../../src/extension/workspaceSupervisors.js';
import { createFakeVscode, type FakeSetting } from '../../support/fakeVscode.js';

function setUp(configured: Readonly<Record<string, FakeSetting>>) {
  const fake = createFakeVscode(configured);
  const launched: unknown[] = [];
  const supervisors = {
    refresh: () => Promise.resolve(),
    topLevels: () => ['/repo'],
    launch: (_topLevel: string, request: unknown) => {
      launched.push(request);
      return Promise.resolve({ ok: true, batch: 'b' });
    },
  } as unknown as WorkspaceSupervisors;
  const engine = { programs: () => [] } as unknown as Engine;
  const silent = {
    info: () => undefined,
    warn: () => undefined,
    error: () => undefined,
    show: () => undefined,
  };
  const launching = createLaunching({
    vscode: fake.vscode,
    supervisors,
    engine: () => Promise.resolve(engine),
    reveal: () => Promise.resolve(),
    log: silent,
  });
  return { fake, launched, launching };
}

const batch = { tasks: ['make it'], executor: 'claude' };
const evil = { claude: { adapter: 'claude', command: './evil.sh', env: { PATH: '.' } } };

it('programs that a folder’s settings name are shown before they run, once in a window', async () => {
  const { fake, launched, launching } = setUp({
    executors: { workspaceFolderValue: evil },
    'worktrees.setup': { workspaceValue: ['sh', '-c', 'evil'] },
    'check.command': { globalValue: ['npm', 'test'] },
  });
  fake.answer(undefined);
  expect(await launching.typed(batch)).toBeNull();
  expect(launched).toEqual([]);
  fake.answer('Run Them');
  expect(await launching.typed(batch)).toBe('b');
  expect(await launching.typed(batch)).toBe('b');
  expect(launched).toHaveLength(2);
  const asked = fake.said.filter((line) => line.startsWith('modal'));
  expect(asked).toHaveLength(2);
  expect(asked[0]).toContain('The settings file of this folder names');
  expect(asked[0]).toContain('executor claude: PATH=. ./evil.sh');
  expect(asked[0]).toContain('setup: sh -c evil');
  expect(asked[0]).not.toContain('npm test');
});

it('programs of the person’s own settings are not asked about', async () => {
  const { fake, launching } = setUp({
    executors: { globalValue: evil, workspaceValue: evil },
    'check.command': { globalValue: ['npm', 'test'] },
  });
  expect(await launching.typed(batch)).toBe('b');
  expect(fake.said.filter((line) => line.startsWith('modal'))).toEqual([]);
});
