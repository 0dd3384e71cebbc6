import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { adapters } from '../../../src/supervisor/agents/index.js';
import { emptyCheckpoint, parseCheckpoint } from '../../../src/supervisor/research/checkpoint.js';
import { checkpointJson } from '../../../src/supervisor/research/report.js';
import { noteEvent } from '../../../src/supervisor/research/research.js';
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

/** The JSON line with every number in it replaced; text that is no JSON stays. */
const withNumbers = (text: string, value: string) =>
  text.replace(/("[^"\\]+":)-?\d+(?:\.\d+)?(?=[,}\]])/g, (_, name: string) => `${name}${value}`);

describe.each([...readdirSync(root), 'command'])('a run of %s with numbers that cannot be', (agent) => {
  const folder = path.join(root, agent);
  const ofProtocol =
    '{"type":"usage","input":1,"cachedInput":1,"output":1}\n{"type":"shell","command":"make","exitCode":1}\n';
  const texts =
    agent === 'command'
      ? [ofProtocol]
      : readdirSync(folder)
          .filter((name) => name.endsWith('.stdout'))
          .map((name) => read(path.join(folder, name)));

  it.each(['-5', '0.5', '1e308', '1e400', '9007199254740993', 'null', '"7"'])(
    'counts %s as no tokens, and its checkpoint stays readable',
    (value) => {
      const adapter = adapters[agent];
      if (adapter === undefined) throw new Error(`no adapter ${agent}`);
      let known = emptyCheckpoint('b', 'c', 'A task');
      for (const text of texts)
        for (const event of eventsOf(adapter.parser(), outputLines(withNumbers(text, value), ''))) {
          if (event.type === 'usage')
            expect([event.input, event.cachedInput, event.output]).toEqual([0, 0, 0]);
          known = noteEvent(known, event, { at: 1, folder: '/work/c', file: null }).checkpoint;
        }
      expect(parseCheckpoint(checkpointJson(known))).not.toBeNull();
    },
  );
});
