import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { makeWorkspace } from '../workspace.mjs';
import { Editor } from './window.js';

describe('a folder that is not trusted', () => {
  let editor: Editor;
  before(async () => {
    editor = await Editor.start({ trust: true });
  });
  after(() => editor.stop());

  it('shows why nothing runs, and runs as soon as it is trusted', async () => {
    const folder = makeWorkspace();
    const window = await editor.open(folder);
    await window.openPanel();
    await window.panel.getByText('it is off in Restricted Mode').waitFor();
    await window.screenshot('9-untrusted');
    assert.equal(existsSync(path.join(folder, '.swarm')), false);
    await window.panel.getByRole('button', { name: 'Manage trust' }).click();
    await window.page
      .locator('.workspace-trust-editor')
      .getByRole('button', { name: 'Trust', exact: true })
      .click();
    await window.panel.getByText('Swarm runs several coding agents at once').waitFor();
    await window.close();
  });
});
