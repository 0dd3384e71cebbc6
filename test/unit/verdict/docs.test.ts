import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { classifyLine } from '../../../src/supervisor/verdict/classify.js';
import { parseRules } from '../../../src/supervisor/verdict/rules.js';

const page = readFileSync('docs/verdicts.md', 'utf8');
const blocks = [...page.matchAll(/```json\n([\s\S]*?)```/g)].map(
  (match) => JSON.parse(match[1] ?? '') as unknown,
);

describe('the page about verdicts', () => {
  it('shows rules, a message and an answer that are true', () => {
    const [rules, message, answer] = blocks;
    const parsed = parseRules(rules);
    expect(parsed.problems).toEqual([]);
    expect(parsed.rules.user).toHaveLength(2);
    expect(classifyLine(JSON.stringify(message), { explain: false, rules: parsed.rules }).json).toEqual(
      answer,
    );
  });

  it('shows a message that means something else without the rule', () => {
    expect(classifyLine(JSON.stringify(blocks[1]), { explain: false }).json['class']).not.toBe('usage_limit');
  });

  it('shows a command line whose case is one', () => {
    const line = /echo '(.*)' \|/.exec(page)?.[1] ?? '';
    const { json, bad } = classifyLine(line, { explain: true });
    expect(bad).toBe(false);
    expect(json).toMatchObject({ resetAt: '2026-06-10T15:00:00Z', resetSource: 'text' });
  });
});

describe('rules of a user', () => {
  const line = JSON.stringify({
    channel: 'http',
    http_status: 400,
    observed_at: '2026-06-10T10:00:00Z',
    text: 'Das Kontingent ist ERSCHÖPFT!',
  });

  it('names a bad rule and keeps the rest', () => {
    const { rules, problems } = parseRules([
      { when: { text: '(' }, class: 'usage_limit' },
      { name: 'no class', when: { text: 'x' } },
      { name: 'no condition', when: { agent: 'x' }, class: 'network' },
      { name: 'look-around', when: { text: '(?=x)x' }, class: 'network' },
      {
        name: 'good',
        when: { text: 'kontingent ist ERSCHÖPFT' },
        class: 'credits_exhausted',
        needsUser: false,
      },
      7,
    ]);
    expect(problems).toHaveLength(5);
    expect(problems[0]).toContain('rule 1');
    expect(problems.join('\n')).toContain('rule 2 (no class)');
    expect(rules.user).toHaveLength(1);
    expect(classifyLine(line, { explain: false, rules }).json).toMatchObject({
      class: 'credits_exhausted',
      needsUser: false,
    });
  });

  it('are a list, or nothing', () => {
    expect(parseRules({}).problems).toHaveLength(1);
    expect(parseRules(undefined)).toEqual({ rules: { user: [] }, problems: [] });
  });

  it('cannot hang the supervisor', () => {
    const { rules, problems } = parseRules([{ when: { text: '(a+)+$' }, class: 'unknown' }]);
    expect(problems).toEqual([]);
    const start = process.cpuUsage();
    classifyLine(
      JSON.stringify({
        channel: 'http',
        http_status: 400,
        observed_at: '2026-06-10T10:00:00Z',
        text: `${'a'.repeat(4000)}!`,
      }),
      { explain: false, rules },
    );
    expect(process.cpuUsage(start).user / 1000).toBeLessThan(2000);
  });
});

describe('a line that is no case', () => {
  it.each([
    '',
    'nonsense',
    '[]',
    '{}',
    '{"channel":"fax","observed_at":"2026-01-01T00:00:00Z"}',
    '{"channel":"http","observed_at":"then"}',
  ])('%s is answered with an error', (line) => {
    const { json, bad } = classifyLine(line, { explain: false });
    expect(bad).toBe(true);
    expect(json['id']).toBeNull();
    expect(json['error']).toEqual(expect.any(String));
  });
});
