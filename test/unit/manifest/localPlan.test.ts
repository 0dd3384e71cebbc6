import { describe, expect, it } from 'vitest';
import { parseManifest } from '../../../src/supervisor/manifest/manifest.js';
import { defaults } from './defaults.js';
import { readPlan, stepText } from '../../../src/supervisor/manifest/localPlan.js';

const plan = `steps:
  - write: a.txt
    text: one
  - replace: a.txt
    from: one
    to: two
  - run: npx prettier --write "a b.txt"
  - check: true
`;

describe('a plan', () => {
  it.each([
    ['is the whole task', plan],
    ['is its fenced block', `Do this, and nothing else:\n\n\`\`\`yaml\n${plan}\`\`\`\nThank you.`],
    [
      'ends where a resumed child is told what is known',
      `${plan}\n\n---\n\nAn earlier session: worked on it`,
    ],
  ])('%s', (_what, text) => {
    const read = readPlan(text);
    expect(read.ok && read.steps.map(stepText)).toEqual([
      'write a.txt',
      'replace in a.txt',
      'run npx prettier --write a b.txt',
      'check',
    ]);
  });

  it('may be JSON, and a bare list', () => {
    const read = readPlan('[{"run":["true"]}]');
    expect(read).toEqual({ ok: true, steps: [{ run: ['true'] }] });
  });

  it.each([
    ['prose', 'Please fix the login', /no list of steps/],
    ['an empty list', 'steps: []', /no steps/],
    ['nothing', '', /no list of steps/],
    ['a word for a step', '- tidy', /step 1: one of/],
    ['two unknown steps', '- erase: a\n- run: "true"\n- remove: b', /step 1: .*step 3: /],
    ['a step with a word too many', '- write: a\n  text: b\n  mode: 7', /step 1/],
    ['an open quote', '- run: echo "a', /step 1/],
    ['an open bracket', '- [', /neither YAML nor JSON/],
  ])('is refused with every mistake: %s', (_what, text, problem) => {
    const read = readPlan(text);
    expect(read.ok ? 'ok' : read.problem).toMatch(problem);
  });
});

describe('a task for the executor local', () => {
  const parse = (text: string) =>
    parseManifest({ kind: 'yaml', text, name: 'nightly.yaml' }, { ...defaults, defaultExecutor: 'local' });

  it('names its programs, so that a person can see them first', () => {
    const parsed = parse(
      'version: 1\ntasks:\n  - id: a\n    prompt: |\n      - run: rm -rf dist\n      - check: true\n',
    );
    expect(parsed.ok && parsed.programs).toEqual([
      { use: 'task a', command: ['rm', '-rf', 'dist'], full: false },
    ]);
  });

  it('is refused with its line where it is no plan', () => {
    const parsed = parse('version: 1\ntasks:\n  - prompt: Fix the login\n');
    expect(!parsed.ok && parsed.errors).toMatchObject([
      { line: 3, message: expect.stringMatching(/"t1" .* no plan/) as string },
    ]);
  });

  it('may be anything where another executor comes first, or a program is given', () => {
    expect(parse('version: 1\ntasks:\n  - prompt: Fix\n    executor: [claude, local]\n').ok).toBe(true);
    const program = 'executors: { mine: { adapter: local, command: [codemod] } }';
    expect(parse(`version: 1\n${program}\nexecutor: mine\ntasks:\n  - prompt: Fix\n`).ok).toBe(true);
  });
});
