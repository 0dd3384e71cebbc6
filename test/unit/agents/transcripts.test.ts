import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { adapters } from '../../../src/supervisor/agents/index.js';
import { eventText, eventsOf, outputLines } from './eventText.js';

// Recorded from the real agents; `UPDATE=1` rewrites the golden `.events` files, whose diff is to be read.
const root = path.join(import.meta.dirname, 'transcripts');
const read = (file: string) => (existsSync(file) ? readFileSync(file, 'utf8') : '');

describe.each(readdirSync(root))('a recorded run of %s', (agent) => {
  const folder = path.join(root, agent);
  const scenarios = new Set(readdirSync(folder).map((name) => name.replace(/\.(stdout|stderr|events)$/, '')));

  it.each([...scenarios].sort())('%s parses into the golden events, every line understood', (scenario) => {
    const adapter = adapters[agent];
    if (adapter === undefined) throw new Error(`no adapter ${agent}`);
    const file = path.join(folder, scenario);
    const events = eventsOf(adapter.parser(), outputLines(read(`${file}.stdout`), read(`${file}.stderr`)));
    expect(events.filter((event) => event.type === 'unrecognized')).toEqual([]);
    const text = eventText(events);
    if (process.env['UPDATE'] === '1') writeFileSync(`${file}.events`, text);
    expect(text).toBe(read(`${file}.events`));
  });
});
