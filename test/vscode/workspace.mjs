// A small TypeScript repository in a temporary folder, and the settings that the tests run with.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const here = path.dirname(fileURLToPath(import.meta.url));
const root = path.dirname(path.dirname(here));

/** @returns {string} absolute path of a repository with one commit */
export function makeWorkspace(name = 'shop') {
  const folder = path.join(realpathSync(mkdtempSync(path.join(os.tmpdir(), 'swarm-vscode-'))), name);
  for (const below of ['src', '.vscode']) mkdirSync(path.join(folder, below), { recursive: true });
  const files = {
    '.gitignore': 'node_modules\n.vscode\n',
    'package.json': JSON.stringify({ name, private: true, type: 'module' }),
    'tsconfig.json': JSON.stringify({
      compilerOptions: { strict: true, types: [], noEmit: true },
      include: ['src'],
    }),
    'src/index.ts': 'export const index = 0;\n',
    'tasks.md': '# Tasks\n\n- [ ] Write checkout\n- [ ] Write basket\n- [x] Write nothing\n',
    'bad.yaml':
      'version: 1\nexecuter: scripted\nmaxConcurrent: many\ntasks:\n  - prompt: ""\n  - id: a/b\n    prompt: x\n',
  };
  for (const [file, text] of Object.entries(files)) writeFileSync(path.join(folder, file), text);
  const git = (...args) =>
    execFileSync('git', ['-c', 'user.name=Test', '-c', 'user.email=t@example.invalid', ...args], {
      cwd: folder,
    });
  git('init', '-q', '-b', 'main');
  git('add', '-A');
  git('commit', '-qm', 'Start');
  return folder;
}

/** `scripted` and `other` are two accounts of the same agent. */
export function testSettings() {
  const command = [process.execPath, path.join(here, 'agent.mjs')];
  return {
    'swarm.executors': {
      scripted: { adapter: 'command', command },
      other: { adapter: 'command', command },
    },
    'swarm.defaultExecutor': 'scripted',
    'swarm.check.command': [
      process.execPath,
      path.join(root, 'node_modules', 'typescript', 'lib', 'tsc.js'),
      '-p',
      '.',
    ],
    'workbench.colorTheme': 'Dark Modern',
  };
}
