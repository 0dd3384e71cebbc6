import { expect, test } from 'vitest';
import { parseManifest } from '../../../src/supervisor/manifest/manifest.js';
import { loadPlan, storedPlan, type ValueSources } from '../../../src/supervisor/manifest/stored.js';

const text = `version: 1
executor: mine
executors:
  mine:
    adapter: command
    command: [node, agent.mjs]
    env: { KEY: "\${env:SECRET}", URL: http://127.0.0.1:9, MIXED: "x-\${env:A}" }
tasks: [{ prompt: x }]
policy: { probe: [1s] }
`;
const settings = {
  executors: {},
  defaultExecutor: 'claude',
  maxConcurrent: 8,
  check: ['npx', 'tsc'],
  timeout: { idle: 1, total: null },
  holdAbove: 95,
};
const nothing: ValueSources = { profiles: {}, manifest: null };

function planOf() {
  const parsed = parseManifest({ kind: 'yaml', text, name: 'x', path: '/somewhere/x.yaml' }, settings);
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.errors));
  return parsed.plan;
}

test('no value of an environment is stored, only references', () => {
  const stored = storedPlan(planOf(), '2026-01-01T00:00:00.000Z');
  expect(stored).not.toContain('127.0.0.1');
  expect(stored).not.toContain('x-$');
  expect(stored).toContain('${env:SECRET}');
});

test('a plan comes back whole while its manifest or the settings have the values', () => {
  const stored = storedPlan(planOf(), '2026-01-01T00:00:00.000Z');
  expect(loadPlan(stored, { profiles: {}, manifest: { kind: 'yaml', text } })).toEqual(planOf());
  const profiles = { mine: { adapter: 'command', env: { URL: 'u', MIXED: 'm' } } };
  expect(loadPlan(stored, { profiles, manifest: null })?.executors['mine']?.env).toEqual({
    KEY: '${env:SECRET}',
    URL: 'u',
    MIXED: 'm',
  });
});

test('a value that is found nowhere any more is asked of the environment by its own name', () => {
  const stored = storedPlan(planOf(), '2026-01-01T00:00:00.000Z');
  expect(loadPlan(stored, nothing)?.executors['mine']?.env).toEqual({
    KEY: '${env:SECRET}',
    URL: '${env:URL}',
    MIXED: '${env:MIXED}',
  });
});

test('what is no plan is none', () => {
  expect(loadPlan('{', nothing)).toBe(null);
  expect(loadPlan('{"schema":1}', nothing)).toBe(null);
});
