import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { createActions } from '../../../src/extension/actions/actions.js';
import type { Showing } from '../../../src/extension/actions/showing.js';
import { describe as describeNotice } from '../../../src/extension/notifications.js';
import { WorkspaceSupervisors } from '../../../src/extension/workspaceSupervisors.js';
import type { ChildView, GateView } from '../../../src/protocol/view.js';
import type { Notice } from '../../../src/supervisor/core/effect.js';
import { createFakeSupervisor } from '../../support/fakeSupervisor.js';
import { createFakeVscode } from '../../support/fakeVscode.js';
import { batchOf, childOf, gateOf, viewOf } from '../../support/views.js';

const log = { info: () => undefined, warn: () => undefined, error: () => undefined, show: () => undefined };

/** One repository with these children, and everything that was said, shown and asked for. */
async function setUp(
  children: readonly ChildView[],
  given: { gates?: readonly GateView[]; askAbove?: number } = {},
) {
  const topLevel = await mkdtemp(path.join(os.tmpdir(), 'swarm-actions-'));
  await mkdir(path.join(topLevel, '.git'));
  await writeFile(path.join(topLevel, '.git', 'HEAD'), '');
  await mkdir(path.join(topLevel, '.swarm'));
  const supervisor = createFakeSupervisor(
    viewOf({ gates: given.gates ?? [], batches: [batchOf(children, { id: 'b1' })] }),
  );
  const supervisors = new WorkspaceSupervisors({
    folders: () => [topLevel],
    trusted: () => true,
    open: () => Promise.resolve({ ok: true, supervisor }),
    onRefused: () => undefined,
    log,
  });
  await supervisors.refresh();
  const editor = createFakeVscode();
  const shown: string[] = [];
  const show =
    (what: string) =>
    (...args: readonly unknown[]): Promise<undefined> => {
      shown.push(`${what} ${JSON.stringify(args[0])}`);
      return Promise.resolve(undefined);
    };
  const showing: Showing = {
    review: show('review'),
    log: show('log'),
    checkpoint: show('checkpoint'),
    worktree: show('worktree'),
    file: show('file'),
    tree: show('tree'),
    report: show('report'),
    why: () => Promise.resolve(['a line']),
  };
  const actions = createActions({
    vscode: editor.vscode,
    supervisors,
    showing,
    signIn: (executor) => show('signIn')(executor),
    runCheckTask: show('checkTask'),
    post: (message) => void shown.push(message.type),
    askAbove: () => given.askAbove ?? null,
    log,
  });
  return { actions, supervisor, editor, shown };
}

const one = { batch: 'b1', child: 't1' };
const waiting = childOf('t1', { title: 'Login', status: 'paused', actions: ['resumeNow', 'stop'] });
const closed = gateOf({
  until: '2099-01-01T00:00:00.000Z',
  first: { id: 't1', title: 'Login', tokens: 900 },
});

describe('an action', () => {
  it('that needs no question is sent at once', async () => {
    const { actions, supervisor, editor } = await setUp([childOf('t1')]);
    await actions.child('pause', [one]);
    expect(supervisor.requests).toEqual([{ type: 'pause', targets: [one] }]);
    expect(editor.said).toEqual([]);
  });

  it('that stops children asks first, and does nothing on Escape', async () => {
    const { actions, supervisor, editor } = await setUp([waiting]);
    await actions.child('stop', [one]);
    expect(supervisor.requests).toEqual([]);
    editor.answer('Stop');
    await actions.child('stop', [one]);
    expect(supervisor.requests).toEqual([{ type: 'stop', targets: [one] }]);
    expect(editor.said[0]).toBe('modal warning: Stop Login? Its work stays in its worktree. [Stop]');
  });

  it('that resumes before a stated reset asks once, and says who goes first and the price', async () => {
    const { actions, supervisor, editor } = await setUp([waiting], { gates: [closed], askAbove: 0 });
    editor.answer('Try now');
    await actions.child('resumeNow', [one]);
    expect(editor.said).toHaveLength(1);
    expect(editor.said[0]).toMatch(
      /^modal warning: Try claude now\? It said it resets at .+\. One child goes first: Login, about 900 tokens\. \[Try now\]$/,
    );
    expect(supervisor.requests).toEqual([{ type: 'resume', targets: [one], how: 'auto' }]);
  });

  it('that resumes after the reset does not ask', async () => {
    const { actions, supervisor, editor } = await setUp([waiting], {
      gates: [{ ...closed, until: '2020-01-01T00:00:00.000Z' }],
    });
    await actions.gate('resumeNow', { credential: 'claude' });
    expect(editor.said).toEqual([]);
    expect(supervisor.requests).toEqual([{ type: 'gate', credential: 'claude', answer: 'resumeNow' }]);
  });

  it('that costs more than the person’s own mark says its price', async () => {
    const dear = childOf('t1', {
      title: 'Login',
      actions: ['resume'],
      resumePrice: { sameNow: 40_000, sameLater: 60_000, fresh: 9_000 },
    });
    const { actions, supervisor, editor } = await setUp([dear], { askAbove: 5_000 });
    await actions.child('resume', [one]);
    expect(editor.said).toEqual([
      'modal warning: Resume Login? About 9,000 tokens: fresh, with a brief. [Resume]',
    ]);
    expect(supervisor.requests).toEqual([]);
  });

  it('that only shows something sends no request', async () => {
    const { actions, supervisor, shown } = await setUp([waiting]);
    for (const action of ['log', 'checkpoint', 'worktree', 'review', 'copyReport', 'why', 'signIn'] as const)
      await actions.child(action, [one]);
    expect(supervisor.requests).toEqual([]);
    expect(shown.map((text) => text.split(' ')[0])).toEqual([
      'log',
      'checkpoint',
      'worktree',
      'review',
      'report',
      'why',
      'signIn',
    ]);
  });

  it('at another time asks for the time', async () => {
    const { actions, supervisor, editor } = await setUp([waiting]);
    editor.answer('Another time…', 'in 2 h');
    await actions.child('resumeAt', [one]);
    const [request] = supervisor.requests;
    expect(request).toMatchObject({ type: 'resumeAt', targets: [one] });
    expect(Math.abs((request as { readonly at: number }).at - Date.now() - 7_200_000)).toBeLessThan(60_000);
  });

  it('on a child that is gone says so', async () => {
    const { actions, supervisor, editor } = await setUp([]);
    await actions.child('pause', [one]);
    expect([supervisor.requests, editor.said]).toEqual([
      [],
      ['information: This child is not there any more.'],
    ]);
  });

  it('that is refused says why and what to do', async () => {
    const { actions, supervisor, editor } = await setUp([childOf('t1')]);
    supervisor.answer({
      ok: false,
      code: 1,
      errors: [{ line: null, message: 'It has ended', fix: 'Retry it.' }],
    });
    await actions.child('pause', [one]);
    expect(editor.said).toEqual(['error: It has ended. Retry it.']);
  });
});

describe('a notification', () => {
  const notices: readonly Notice[] = [
    { kind: 'signedOut', credential: 'claude', waiting: 3 },
    { kind: 'credits', credential: 'claude', waiting: 1 },
    { kind: 'denied', credential: 'claude', waiting: 3 },
    { kind: 'weekly', credential: 'claude', waiting: 3, resetAt: null },
    { kind: 'unknown', child: 'b1/t1', title: 'Login' },
    { kind: 'failed', child: 'b1/t1', title: 'Login', message: 'no such model' },
    { kind: 'disk', waiting: 2 },
    { kind: 'credential', credential: 'claude', waiting: 3 },
  ];

  it('says what is and offers what can be done', async () => {
    const { actions, editor } = await setUp([childOf('t1', { primary: 'retry' })]);
    const options = {
      vscode: editor.vscode,
      actions,
      openPanel: () => Promise.resolve(),
      cleanUp: () => Promise.resolve(),
      tellDone: () => true,
    };
    const view = viewOf({ batches: [batchOf([childOf('t1', { primary: 'retry' })], { id: 'b1' })] });
    const drawn = notices.map((notice) => {
      const made = describeNotice(options, notice, view);
      return made === null
        ? null
        : `${made.level}: ${made.text} [${made.buttons.map(({ label }) => label).join(' | ')}]`;
    });
    expect(drawn).toEqual([
      'warning: claude is signed out. 3 tasks wait, their work is kept. [Sign in… | Open panel]',
      'warning: claude is out of credits. 1 task waits, its work is kept. [Open panel]',
      'warning: claude was refused access. 3 tasks wait, their work is kept. [Open panel]',
      "information: claude reached its weekly limit and gave no reset time. 3 tasks wait, their work is kept. [Don't | Open panel]",
      'warning: Login stopped and the reason is unknown. Its work is kept. [Why? | Open panel]',
      'error: Login failed: no such model [Retry | Show log | Open panel]',
      'error: The disk is full. Paused: 2 tasks. Nothing saved is lost. [Clean up…]',
      'information: claude looks signed in again. Resume 3 tasks? [Resume | Not now]',
    ]);
    // A window in front needs no word that a batch is done.
    expect(describeNotice(options, { kind: 'done', batch: 'b1', name: 'Auth', ready: 2 }, view)).toBeNull();
  });
});
