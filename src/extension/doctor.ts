import { execFile } from 'node:child_process';
import type * as vscode from 'vscode';
import { commandLine } from './ownPrograms.js';
import type { Vscode } from './vscodeTypes.js';

/** Looks at git, the agents and each of the folders, and shows what it found in the output channel. */
export async function runDoctor(
  vscode: Vscode,
  log: vscode.LogOutputChannel,
  dist: string,
  folders: readonly string[],
): Promise<void> {
  log.show(true);
  const { l10n, window } = vscode;
  await window.withProgress(
    { location: vscode.ProgressLocation.Window, title: l10n.t('Swarm doctor') },
    async () => {
      if (folders.length === 0) await examine(log, dist, null);
      for (const folder of folders) await examine(log, dist, folder);
    },
  );
}

function examine(log: vscode.LogOutputChannel, dist: string, folder: string | null): Promise<void> {
  const { file, args, env } = commandLine(dist, [...(folder === null ? [] : ['-C', folder]), 'doctor']);
  const options = {
    env: { ...process.env, ...env },
    timeout: 60_000,
    ...(folder === null ? {} : { cwd: folder }),
  };
  return new Promise<void>((resolve) => {
    execFile(file, [...args], options, (error, stdout, stderr) => {
      for (const line of `${stdout}\n${stderr}`.split('\n').filter((text) => text.trim() !== ''))
        log.info(line);
      if (error !== null && stdout === '') log.error(error.message);
      resolve();
    });
  });
}
