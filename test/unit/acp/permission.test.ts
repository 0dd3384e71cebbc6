import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { isAllowed, optionFor } from '../../../src/supervisor/acp/permission.js';
import { modeSetting, modelSetting } from '../../../src/supervisor/acp/setup.js';

const root = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'swarm-acp-')));
const folder = path.join(root, 'child');
mkdirSync(path.join(folder, 'src'), { recursive: true });
mkdirSync(path.join(root, 'outside'));
symlinkSync(path.join(root, 'outside'), path.join(folder, 'link'));
symlinkSync(path.join(root, 'outside'), path.join(folder, 'node_modules'));
afterAll(() => rmSync(root, { recursive: true }));

const call = (kind: string, paths: readonly string[], command = '') => ({ kind, paths, command, title: 'x' });
const allowed = (what: ReturnType<typeof call>, permissions: 'edit' | 'full' = 'edit') =>
  isAllowed(what, { permissions, folder, check: 'npx tsc --noEmit' });

describe('with the permission to edit', () => {
  it.each([
    ['an edit in the folder', call('edit', ['src/new/a.ts']), true],
    ['the same by its absolute path', call('edit', [path.join(folder, 'a.ts')]), true],
    ['an edit that names no path', call('edit', []), false],
    ['an edit beside the folder', call('edit', ['../a.ts']), false],
    ['one path in, one out', call('edit', ['a.ts', '/etc/passwd']), false],
    ['an edit through a link that leads out', call('edit', ['link/a.ts']), false],
    ['an edit of what was linked in', call('edit', ['node_modules/x/a.js']), false],
    ['an edit of whose worktree it is', call('edit', ['.git']), false],
    ['reading what was linked in', call('read', ['node_modules/x/a.js']), true],
    ['reading elsewhere', call('read', ['/etc/passwd']), false],
    ['the check', call('execute', [], 'npx tsc --noEmit'), true],
    ['the check in a shell', call('execute', [], "/bin/bash -lc 'npx tsc --noEmit'"), true],
    ['the check and more', call('execute', [], 'npx tsc --noEmit && rm -rf .'), false],
    ['another command', call('execute', ['src'], 'ls'), false],
    ['the net', call('fetch', []), false],
    ['what it does not name', call('', ['a.ts']), false],
  ] as const)('%s: %j', async (_what, what, expected) => {
    expect(await allowed(what)).toBe(expected);
  });
});

it('with full permissions everything is allowed', async () => {
  expect(await allowed(call('execute', [], 'rm -rf /'), 'full')).toBe(true);
});

it('an answer for once is preferred, and no answer is given that does not fit', () => {
  const options = ['allow_always', 'allow_once', 'reject_once'].map((kind) => ({ kind, optionId: kind }));
  expect([optionFor(options, true), optionFor(options, false)]).toEqual(['allow_once', 'reject_once']);
  expect([optionFor(options.slice(0, 2), false), optionFor('rubbish', true)]).toEqual([null, null]);
});

describe('the mode', () => {
  const modes = (currentModeId: string, ...ids: string[]) => ({
    modes: { currentModeId, availableModes: ids.map((id) => ({ id, name: id })) },
  });
  it.each([
    [
      modes('auto', 'default', 'acceptEdits', 'plan', 'auto', 'bypassPermissions'),
      'acceptEdits',
      'bypassPermissions',
    ],
    [modes('agent', 'read-only', 'agent', 'agent-full-access'), null, 'agent-full-access'],
    [modes('yolo', 'default', 'autoEdit', 'yolo', 'plan'), 'autoEdit', null],
    [modes('auto', 'default', 'plan', 'auto', 'yolo'), 'default', 'yolo'],
    [{}, null, null],
  ] as const)('of %j is set to %s, with full permissions to %s', (opened, edit, full) => {
    const id = (permissions: 'edit' | 'full') => modeSetting(opened, permissions)?.params['modeId'] ?? null;
    expect([id('edit'), id('full')]).toEqual([edit, full]);
  });
});

it('a model is found by its id or name; an unknown one is said, and what there is', () => {
  const opened = {
    configOptions: [
      {
        id: 'm',
        category: 'model',
        type: 'select',
        currentValue: 'a',
        options: [
          { value: 'a', name: 'A' },
          { value: 'b', name: 'Large' },
        ],
      },
    ],
  };
  expect(modelSetting(opened, 'a')).toBeNull();
  expect(modelSetting(opened, 'Large')).toEqual({
    method: 'session/set_config_option',
    params: { configId: 'm', value: 'b' },
  });
  expect(modelSetting(opened, 'c')).toEqual({ unknown: ['a', 'b'] });
  expect(modelSetting({}, 'c')).toBeNull();
});
