import { spawn } from 'node:child_process';
import { commandLine } from './ownPrograms.js';

export interface KeepSupervising {
  /** Where our own programs are. */
  readonly dist: string;
  readonly topLevel: string;
  /** The person's `swarm.maxConcurrent`, which the command line would not know. */
  readonly maxConcurrent: number;
}

/** VS Code leaves a closing window little time. */
const readyWithin = 1_500;

/**
 * Starts `swarm supervise` in the background for a folder that this process is about to give up. Resolves when it
 * stands by, so that it takes over in the moment the folder is free; or when there is no time to wait any longer.
 * It gives the folder to the next window.
 */
export function superviseInBackground({ dist, topLevel, maxConcurrent }: KeepSupervising): Promise<void> {
  const { file, args, env } = commandLine(dist, [
    '-C',
    topLevel,
    'supervise',
    '--json',
    '--after',
    String(process.pid),
    '--max-concurrent',
    String(maxConcurrent),
  ]);
  return new Promise((resolve) => {
    const child = spawn(file, [...args], {
      cwd: topLevel,
      detached: true,
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      env: { ...process.env, ...env },
    });
    const goOn = (): void => {
      clearTimeout(late);
      if (child.connected) child.disconnect();
      child.unref();
      resolve();
    };
    const late = setTimeout(goOn, readyWithin);
    child.once('message', goOn).once('exit', goOn).once('error', goOn);
  });
}
