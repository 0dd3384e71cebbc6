import { join } from 'node:path';

/**
 * The profile of the `demo` executor: the pretend agent that ships in `dist`, run by the Node.js that runs us.
 * Inside VS Code that is Electron, which the variable turns into Node.js.
 */
export function demoExecutor(dist: string): {
  readonly adapter: 'demo';
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
} {
  const passed = Object.fromEntries(
    Object.entries(process.env).filter(
      (entry): entry is [string, string] => entry[0].startsWith('SWARM_DEMO_') && entry[1] !== undefined,
    ),
  );
  return {
    adapter: 'demo',
    command: [process.execPath, join(dist, 'demo.js'), 'agent'],
    env: { ...passed, ...(process.versions['electron'] ? { ELECTRON_RUN_AS_NODE: '1' } : {}) },
  };
}
