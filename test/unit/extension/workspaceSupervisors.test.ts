import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { repositoryOf } from '../../../src/extension/repositories.js';
import { WorkspaceSupervisors, type Opened } from '../../../src/extension/workspaceSupervisors.js';
import { createFakeSupervisor, type FakeSupervisor } from '../../support/fakeSupervisor.js';
import { batchOf, childOf, viewOf } from '../../support/views.js';

let root = '';
beforeEach(async () => {
  root = await mkdtemp(path.join(os.tmpdir(), 'swarm-folders-'));
});
afterEach(async () => {
  await rm(root, { recursive: true, force: true });
});

const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };
const launch = { type: 'launch', manifest: { kind: 'tasks', text: 'a', name: '' }, consent: false } as const;

async function repository(name: string, swarm: boolean): Promise<string> {
  await mkdir(path.join(root, name, '.git'), { recursive: true });
  await writeFile(path.join(root, name, '.git', 'HEAD'), '');
  await mkdir(path.join(root, name, 'src'), { recursive: true });
  if (swarm) await mkdir(path.join(root, name, '.swarm'));
  return path.join(root, name);
}

function setUp(
  folders: readonly string[],
  given: { trusted?: boolean; open?: (topLevel: string) => Opened } = {},
) {
  const opened: string[] = [];
  const refused: string[] = [];
  const made: FakeSupervisor[] = [];
  const state = { folders, trusted: given.trusted ?? true };
  const supervisors = new WorkspaceSupervisors({
    folders: () => state.folders,
    trusted: () => state.trusted,
    open: (topLevel) => {
      opened.push(path.basename(topLevel));
      if (given.open !== undefined) return Promise.resolve(given.open(topLevel));
      const supervisor = createFakeSupervisor(
        viewOf({ batches: [batchOf([childOf('t1')], { id: path.basename(topLevel) })] }),
      );
      made.push(supervisor);
      return Promise.resolve({ ok: true, supervisor });
    },
    onRefused: ({ message }) => refused.push(message),
    log: silent,
  });
  return { supervisors, opened, refused, made, state };
}

describe('the supervisors of a workspace', () => {
  it('are opened where something was launched before, and nowhere else', async () => {
    const used = await repository('used', true);
    const unused = await repository('unused', false);
    const { supervisors, opened } = setUp([used, unused]);
    await supervisors.refresh();
    expect(opened).toEqual(['used']);
    expect([supervisors.workspace(), supervisors.role(), supervisors.topLevels().length]).toEqual([
      'ready',
      'owner',
      2,
    ]);
  });

  it('are one for all folders of the same repository', async () => {
    const used = await repository('used', true);
    const { supervisors, opened } = setUp([used, path.join(used, 'src')]);
    await supervisors.refresh();
    expect(opened).toEqual(['used']);
  });

  it('are one where two folders lead to the same repository by different ways', async () => {
    const used = await repository('used', true);
    const link = path.join(root, 'link');
    await symlink(used, link);
    const { supervisors, opened } = setUp([link, used]);
    await supervisors.refresh();
    expect([opened, supervisors.topLevels()]).toEqual([['link'], [link]]);
  });

  it('are two where one repository lies inside another', async () => {
    const outer = await repository('outer', true);
    const inner = await repository(path.join('outer', 'inner'), true);
    const { supervisors, opened } = setUp([path.join(outer, 'src'), path.join(inner, 'src')]);
    await supervisors.refresh();
    expect([opened.sort(), supervisors.topLevels()]).toEqual([
      ['inner', 'outer'],
      [outer, inner],
    ]);
  });

  it('have one view that never goes back, also where a folder is removed', async () => {
    const [one, two] = [await repository('one', true), await repository('two', true)];
    const { supervisors, made, opened, state } = setUp([one, two]);
    await supervisors.refresh();
    // Folders are opened side by side, in no order.
    made[opened.indexOf('one')]?.show(viewOf({ seq: 30 }));
    const both = supervisors.view();
    expect([both.seq, supervisors.view() === both]).toEqual([31, true]);
    state.folders = [two];
    await supervisors.refresh();
    expect(supervisors.view().seq).toBeGreaterThanOrEqual(31);
    made[opened.indexOf('two')]?.show(viewOf({ seq: 2 }));
    expect(supervisors.view().seq).toBeGreaterThan(both.seq);
  });

  it('are not opened before the folder is trusted', async () => {
    const used = await repository('used', true);
    const { supervisors, opened, state } = setUp([used], { trusted: false });
    await supervisors.refresh();
    expect([opened, supervisors.workspace()]).toEqual([[], 'untrusted']);
    state.trusted = true;
    await supervisors.refresh();
    expect([opened, supervisors.workspace()]).toEqual([['used'], 'ready']);
  });

  it('are none without a folder or without git, and the panel knows which', async () => {
    const none = setUp([]);
    // A folder above which nobody has made a repository.
    const plain = setUp([path.parse(root).root]);
    await Promise.all([none.supervisors.refresh(), plain.supervisors.refresh()]);
    expect([none.supervisors.workspace(), plain.supervisors.workspace()]).toEqual(['noFolder', 'noGit']);
  });

  it('are opened by the first launch, whose refusal is the answer', async () => {
    const unused = await repository('unused', false);
    const good = setUp([unused]);
    await good.supervisors.refresh();
    expect(await good.supervisors.launch(unused, launch)).toEqual({ ok: true });
    expect(good.made[0]?.requests).toEqual([launch]);
    const bad = setUp([unused], {
      open: () => ({ ok: false, code: 3, message: 'git is too old', fix: 'Install 2.38.' }),
    });
    await bad.supervisors.refresh();
    expect(await bad.supervisors.launch(unused, launch)).toMatchObject({
      ok: false,
      code: 3,
      errors: [{ message: 'git is too old' }],
    });
  });

  it('are found by the batch they hold', async () => {
    const [one, two] = [await repository('one', true), await repository('two', true)];
    const { supervisors } = setUp([one, two]);
    await supervisors.refresh();
    expect(supervisors.holder('two')?.topLevel).toBe(two);
    expect(supervisors.holder('three')).toBeNull();
    expect(supervisors.view().batches.map(({ id }) => id)).toEqual(['one', 'two']);
  });

  it('keep the last view on the screen while they look for their place again', async () => {
    const used = await repository('used', true);
    const { supervisors, made } = setUp([used]);
    await supervisors.refresh();
    made[0]?.become('gone');
    expect([supervisors.role(), supervisors.view().batches.length, made[0]?.closed]).toEqual([
      'gone',
      1,
      false,
    ]);
    made[0]?.become('viewer');
    expect(supervisors.role()).toBe('viewer');
  });

  it('ask for a folder that somebody else holds: what stood in for a window gives it up', async () => {
    const used = await repository('used', true);
    const { supervisors, made } = setUp([used]);
    await supervisors.refresh();
    expect(made[0]?.requests).toEqual([]);
    made[0]?.become('viewer');
    expect(made[0]?.requests).toEqual([{ type: 'handOver' }]);
    made[0]?.become('owner');
    expect(made[0]?.requests).toHaveLength(1);
  });

  it('that are refused are told once, and tried again', async () => {
    const used = await repository('used', true);
    const refusal = { ok: false, code: 3, message: '.swarm is a link', fix: 'Remove it.' } as const;
    const { supervisors, opened, refused } = setUp([used], { open: () => refusal });
    await supervisors.refresh();
    await supervisors.refresh();
    expect([opened.length, refused]).toEqual([2, ['.swarm is a link']]);
  });

  it('leave the folder to others when nothing came of the first launch', async () => {
    const unused = await repository('unused', false);
    const { supervisors, made } = setUp([unused], {
      open: () => {
        const supervisor = createFakeSupervisor();
        supervisor.answer({ ok: false, code: 2, errors: [] });
        made.push(supervisor);
        return { ok: true, supervisor };
      },
    });
    await supervisors.refresh();
    expect(await supervisors.launch(unused, launch)).toMatchObject({ ok: false });
    expect(made[0]?.closed).toBe(true);
  });

  it('are given up without stopping an agent when the folder or the window is closed', async () => {
    const [one, two] = [await repository('one', true), await repository('two', true)];
    const { supervisors, opened, made, state } = setUp([one, two]);
    await supervisors.refresh();
    state.folders = [two];
    await supervisors.refresh();
    // Either may have been opened first.
    expect(made.map(({ closed }, at) => [opened[at], closed]).sort()).toEqual([
      ['one', true],
      ['two', false],
    ]);
    await supervisors.close();
    expect(made.map(({ closed }) => closed)).toEqual([true, true]);
  });

  it('pass a notice on with the supervisor it came from', async () => {
    const used = await repository('used', true);
    const { supervisors, made } = setUp([used]);
    await supervisors.refresh();
    const heard: unknown[] = [];
    supervisors.noticed.listen(({ notice, supervisor }) => heard.push(notice.kind, supervisor === made[0]));
    made[0]?.notice({ kind: 'disk', waiting: 2 });
    expect(heard).toEqual(['disk', true]);
  });

  it('tell who wrote a folder that can only be read', async () => {
    const used = await repository('used', true);
    await writeFile(path.join(used, '.swarm', 'VERSION'), '{"schema":9,"minReader":9,"createdBy":"9.1.0"}');
    const { supervisors } = setUp([used], {
      open: () => {
        const supervisor = createFakeSupervisor();
        supervisor.become('readOnly');
        return { ok: true, supervisor };
      },
    });
    await supervisors.refresh();
    expect([supervisors.role(), supervisors.writtenBy()]).toEqual(['readOnly', '9.1.0']);
  });
});

it('a file belongs to the innermost repository around it', () => {
  const tops = [path.join(root, 'shop'), path.join(root, 'shop', 'inner'), path.join(root, 'shop-old')];
  const of = (...parts: readonly string[]): string | undefined =>
    repositoryOf(path.join(root, ...parts), tops);
  expect([of('shop', 'a'), of('shop', 'inner', 'a'), of('shop-old', 'a'), of('shop', 'inner')]).toEqual([
    tops[0],
    tops[1],
    tops[2],
    tops[1],
  ]);
  expect(of('elsewhere', 'a')).toBeUndefined();
});
