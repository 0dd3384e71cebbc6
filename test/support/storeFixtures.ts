import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll } from 'vitest';
import type { View } from '../../src/protocol/view.js';
import type { Stamped } from '../../src/supervisor/core/event.js';
import type { State } from '../../src/supervisor/core/state.js';

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders.splice(0)) fs.rmSync(folder, { recursive: true, force: true });
});

/** A folder of its own that goes when the file's tests are over. */
export function temporary(): string {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'swarm-test-'));
  folders.push(folder);
  return folder;
}

/** Some event with this number; `size` makes it that much longer. */
export function event(seq: number, size = 0): Stamped {
  return {
    seq,
    t: 1_800_000_000_000 + seq,
    offset: 60,
    event: { type: 'credentialChanged', credential: `claude ${seq} ä€😀${'x'.repeat(size)}` },
  };
}

export function events(from: number, to: number): readonly Stamped[] {
  return Array.from({ length: to - from + 1 }, (_, index) => event(from + index));
}

export function state(seq: number): State {
  return {
    seq,
    at: 1_800_000_000_000 + seq,
    offset: 60,
    owner: null,
    settings: { maxConcurrent: 8, askAbove: null },
    batches: {},
    batchOrder: [],
    children: {},
    gates: {},
    diskFullSince: null,
  };
}

export function emptyView(seq: number): View {
  return {
    schema: 1,
    seq,
    at: '2027-01-15T08:00:00.000Z',
    owner: null,
    problems: [],
    gates: [],
    batches: [],
  };
}
