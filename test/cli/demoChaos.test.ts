import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect, it } from 'vitest';
import { cli } from './stage.js';

it('swarm demo --chaos kills and refuses at random, and ends with everything done and applied', async () => {
  const home = mkdtempSync(path.join(os.tmpdir(), 'swarm-chaos-'));
  try {
    const child = spawn(process.execPath, [cli, 'demo', '--chaos', '7'], {
      env: {
        ...process.env,
        ...{ TMPDIR: home, XDG_CONFIG_HOME: home, NO_COLOR: '1' },
        ...{ SWARM_DEMO_PACE_MS: '500', SWARM_DEMO_RESET_MS: '3000' },
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let out = '';
    child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (out += chunk.toString()));
    const code = await new Promise((resolve) => child.once('close', resolve));
    expect(out).toContain('--chaos 7');
    expect(out).toMatch(/\*\*\* (the supervisor|an agent) is killed/);
    expect(out).toContain('4 of 4 applied');
    expect(code).toBe(0);
    expect(readdirSync(home).some((name) => name.startsWith('swarm-demo-'))).toBe(true);
  } finally {
    rmSync(home, { recursive: true, force: true, maxRetries: 10 });
  }
}, 240_000);
