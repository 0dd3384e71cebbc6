import path from 'node:path';

/** A program of ours in `dist`, run by the Node.js that runs the extension, without a shell. */
export interface OwnProgram {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** The command line `swarm`, as it ships with the extension. On the desktop Electron plays Node.js. */
export function commandLine(dist: string, args: readonly string[]): OwnProgram {
  return {
    file: process.execPath,
    args: [path.join(dist, 'cli.js'), ...args],
    env: { ELECTRON_RUN_AS_NODE: '1' },
  };
}
