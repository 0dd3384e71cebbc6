import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { runTrace } from './traceDriver.js';

const folder = path.join(import.meta.dirname, '../../traces');

/** The traces are the machine's specification. `UPDATE=1` rewrites them; the difference is then read by a person. */
describe('the machine does what its traces say', () => {
  for (const name of readdirSync(folder).filter((each) => each.endsWith('.txt')))
    test(name.slice(0, -4), () => {
      const file = path.join(folder, name);
      const told = readFileSync(file, 'utf8');
      const seen = runTrace(told);
      if (process.env['UPDATE'] === '1') writeFileSync(file, seen);
      else expect(seen).toBe(told);
    });
});
