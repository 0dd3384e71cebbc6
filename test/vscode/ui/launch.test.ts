import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import type { BatchView } from '../../../src/protocol/view.js';
import { makeWorkspace } from '../workspace.mjs';
import { cli, Editor, until, viewOf, type Window } from './window.js';

const statusOf = (folder: string): readonly (readonly [string, string, number])[] =>
  (viewOf(folder).batches.at(-1)?.children ?? []).map(({ title, status, attempts }) => [
    title,
    status,
    attempts,
  ]);

const last = (folder: string): BatchView | undefined => viewOf(folder).batches.at(-1);

describe('the window', function () {
  // Each test goes on where the one before has ended.
  this.bail(true);
  let editor: Editor;
  let window: Window;
  const folder = makeWorkspace();
  const go = path.join(folder, '..', 'go');

  before(async () => {
    editor = await Editor.start();
    window = await editor.open(folder);
  });
  after(async () => {
    cli(folder, 'stop', '--all');
    await editor.stop();
  });

  afterEach(async function () {
    if (this.currentTest?.state === 'failed')
      await window.screenshot(`failed ${this.currentTest.title}`.slice(0, 60));
  });

  it('shows the panel with what it is and a place to type tasks', async () => {
    await window.openPanel();
    await window.panel.getByText('Swarm runs several coding agents at once').waitFor();
    await window.screenshot('1-never-used');
  });

  it('launches what is typed in the panel, and shows its children', async () => {
    const box = window.panel.locator('textarea').first();
    await box.fill(`Write login limit 90\nWrite cart limit 90\nWrite help wait ${go}`);
    await window.panel.getByRole('button', { name: 'Start 3 tasks' }).click();
    await window.row('Write help').waitFor();
    await until('three children', () => statusOf(folder).length === 3);
    assert.equal(last(folder)?.children[0]?.executor, 'scripted');
  });

  it('shows the limit as a pause with a countdown, in the panel and in the status bar', async () => {
    await window.away();
    await window.panel.getByText('limit reached').first().waitFor();
    await window.panel.getByRole('row', { name: /Write login.*paused/i, level: 2 }).waitFor();
    await window.status.getByText(/running · 2 waiting · (1 min|2 min|soon)/).waitFor();
    await window.screenshot('2-limit');
  });

  it('shows the same after a reload while children run and wait, and nothing runs twice', async () => {
    const before = statusOf(folder);
    assert.deepEqual(
      before.map(([, status]) => status),
      ['paused', 'paused', 'running'],
    );
    await window.page.reload();
    await window.ready();
    await window.openPanel();
    await window.panel.getByRole('row', { name: /Write login.*paused/i, level: 2 }).waitFor();
    await window.panel.getByRole('row', { name: /Write help.*running/i, level: 2 }).waitFor();
    assert.deepEqual(statusOf(folder), before);
    await window.screenshot('3-after-reload');
  });

  it('asks before it resumes ahead of the reset, then one child goes first and the others follow', async () => {
    await window.panel.locator('.strips').getByText('Resume now…').click();
    const question = await window.confirm('Try now');
    await window.away();
    assert.match(question, /Try scripted now\? It said it resets at .+ One child goes first: Write /);
    await until('both to be done', () =>
      statusOf(folder)
        .slice(0, 2)
        .every(([, status]) => status === 'done'),
    );
    assert.deepEqual(
      statusOf(folder).map(([, , attempts]) => attempts),
      [2, 2, 1],
    );
    writeFileSync(go, '');
    await until('the last to be done', () => last(folder)?.status === 'succeeded');
    assert.equal(statusOf(folder)[2]?.[2], 1);
    await window.status.getByText('3 done · 3 ready to apply').waitFor();
    await window.screenshot('4-done');
  });

  it('opens the changes of a child in the multi-diff editor', async () => {
    await window.command('Swarm: Review Changes of Child');
    await window.pick('Write login');
    await window.page.getByRole('tab', { name: /Changes of Write login/ }).waitFor();
    await window.page.locator('.multiDiffEntry, .multi-diff-editor, .multidiffeditor').first().waitFor();
    await window.page.getByText('export const login').first().waitFor();
    await window.screenshot('5-review');
    await window.command('View: Close All Editors');
  });

  it('brings all into the tree when the palette is asked to', async () => {
    await window.command('Swarm: Apply All Ready');
    await until('all to be applied', () =>
      last(folder)?.children.every(({ display }) => display === 'applied'),
    );
    await window.panel.getByRole('row', { name: /Write login.*applied/i, level: 2 }).waitFor();
  });

  it('launches from the palette: task after task, then the agent', async () => {
    await window.command('Swarm: New Batch…');
    await window.type('What is the first task?', 'Write wish sign in');
    await window.type('Next task', 'Write hope');
    await window.type('Next task', '');
    await window.pick('other');
    await until('two children', () => statusOf(folder).length === 2);
    assert.deepEqual(
      statusOf(folder).map(([title]) => title),
      ['Write wish sign in', 'Write hope'],
    );
  });

  it('tells a person once when a sign-in is needed, and marks the view and the status bar', async () => {
    await window.toast('other is signed out').waitFor();
    assert.equal(await window.toast('other is signed out').count(), 1);
    await window.status.getByText('1 needs you').waitFor();
    await window.page.locator('.activitybar .badge-content', { hasText: /^1$/ }).first().waitFor();
    await window.panel.getByText('signed out').first().waitFor();
    await window.screenshot('6-needs-you');
    await window.command('Notifications: Clear All Notifications');
  });

  it('has every theme’s colours', async () => {
    const kinds = {
      'Light Modern': 'vscode-light',
      'Default High Contrast': 'vscode-high-contrast',
      'Default High Contrast Light': 'vscode-high-contrast-light',
      'Dark Modern': 'vscode-dark',
    };
    for (const [theme, kind] of Object.entries(kinds)) {
      writeFileSync(
        path.join(folder, '.vscode', 'settings.json'),
        JSON.stringify({ 'workbench.colorTheme': theme }),
      );
      await window.panel.locator(`body.${kind}`).waitFor();
      await window.screenshot(`7-${theme.toLowerCase().replaceAll(' ', '-')}`);
    }
  });

  it('goes on in a second window, which sends its clicks to the first', async () => {
    const second = await editor.open(folder);
    await second.openPanel();
    await second.panel.getByText('Run by another window').waitFor();
    await second.panel.getByRole('row', { name: /Write wish/i, level: 2 }).waitFor();
    await second.screenshot('8-second-window');
    await second.command('Swarm: Stop Child…');
    // It is the only one that can be stopped, so that nobody is asked which.
    assert.match(await second.confirm('Stop'), /Stop Write wish sign in\?/);
    await until('it to be stopped', () => last(folder)?.children[0]?.status === 'canceled');
    await second.close();
  });

  it('was never refused anything by its content security policy', () => {
    assert.deepEqual(window.complaints, []);
  });
});
