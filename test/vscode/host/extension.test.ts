import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import * as vscode from 'vscode';
import { commands, settings } from '../../../src/extension/contributions.js';
import { answering, extensionId, swarm, until, workspaceFolder } from './editor.js';

describe('the extension', () => {
  it('activates by itself, where the files are, and quickly', async () => {
    const extension = vscode.extensions.getExtension(extensionId);
    assert.ok(extension);
    assert.equal(extension.extensionKind, vscode.ExtensionKind.Workspace);
    await until('activation', () => extension.isActive);
    const { activatedIn } = await swarm();
    assert.ok(activatedIn <= 50, `activate() took ${activatedIn} ms`);
  });

  it('loads its own code quickly', () => {
    const file = path.join(
      vscode.extensions.getExtension(extensionId)?.extensionPath ?? '',
      'dist',
      'extension.cjs',
    );
    const load = createRequire(file);
    const times = Array.from({ length: 5 }, () => {
      delete load.cache[load.resolve(file)];
      const start = performance.now();
      load(file);
      return performance.now() - start;
    });
    assert.ok(Math.min(...times) <= 50, `loading took ${times.map((time) => time.toFixed(1)).join(', ')} ms`);
  });

  it('has every command', async () => {
    const known = new Set(await vscode.commands.getCommands(true));
    assert.deepEqual(
      Object.values(commands).filter((id) => !known.has(id)),
      [],
    );
  });

  it('has every setting, with its default', () => {
    const configuration = vscode.workspace.getConfiguration('swarm');
    const missing = Object.values(settings).filter(
      (name) => configuration.inspect(name)?.defaultValue === undefined,
    );
    assert.deepEqual(missing, []);
    assert.equal(configuration.get('maxConcurrent'), 8);
  });

  it('finds the repository and the agents of the settings', async () => {
    const api = await swarm();
    await vscode.commands.executeCommand('swarm.panel.focus');
    const ready = await until('the surroundings', () =>
      api.host().executors.length > 0 ? api.host() : null,
    );
    assert.equal(ready.workspace, 'ready');
    assert.equal(ready.supervisor, 'owner');
    assert.deepEqual(ready.executors[0], { name: 'scripted', found: true });
    assert.ok(ready.executors.some(({ name, found }) => name === 'demo' && found));
  });

  it('makes no folder by being looked at', () => {
    assert.equal(existsSync(path.join(workspaceFolder(), '.swarm')), false);
  });

  it('says every mistake of a manifest, starts nothing and writes nothing', async () => {
    const file = vscode.Uri.file(path.join(workspaceFolder(), 'bad.yaml'));
    const said = await answering({}, () => vscode.commands.executeCommand('swarm.launchFromFile', file));
    assert.match(said.join('\n'), /Nothing was started\. \d+ things to correct in bad\.yaml/);
    assert.equal(existsSync(path.join(workspaceFolder(), '.swarm')), false);
    assert.equal((await swarm()).view().batches.length, 0);
  });

  it('refuses an agent that nobody knows', async () => {
    const said = await answering({}, () =>
      vscode.commands.executeCommand('swarm.launchBatch', { tasks: ['Write x'], executor: 'nobody' }),
    );
    assert.match(said.join('\n'), /nobody/);
    assert.equal(existsSync(path.join(workspaceFolder(), '.swarm')), false);
  });

  it('says so where no child can do what was asked', async () => {
    const said = await answering({}, () => vscode.commands.executeCommand('swarm.pause'));
    assert.deepEqual(said, ['There is no batch yet. Start one with New Batch.']);
  });
});
