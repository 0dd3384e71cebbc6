import { expect, it } from 'vitest';
import { cleanJson } from '../../../src/cli/output/clean.js';
import { screenTo } from '../../support/screen.js';

function printed(text: string, how: 'write' | 'draw' | 'raw'): string {
  let all = '';
  screenTo((part) => (all += part), { isTTY: true })[how](text);
  return all;
}

it('what is printed keeps its lines and no code that a terminal would follow; a table of ours its colours', () => {
  const hostile = '\u001b]0;title\u0007a\u001b[2Jb\u009b31mc\u202ed\u0008e\rf\u001b[?25l';
  const coloured = `\u001b[31mred\u001b[0m\t${hostile}\n`;
  expect(printed(coloured, 'write')).toBe('red\tabcdef\n');
  expect(printed(coloured, 'draw')).toBe('\u001b[31mred\u001b[0m\tabcdef\n');
  expect(printed(hostile, 'raw')).toBe(hostile);
});

it('JSON says the same codes as escapes, so that nothing is lost', () => {
  const value = { path: 'a\u009b2J\u202e\u007f\u001b[31m.ts', lines: 'x\ny' };
  const text = cleanJson(value);
  expect(text).toMatch(/^[\u0020-\u007e]*$/);
  expect(JSON.parse(text)).toEqual(value);
  expect(JSON.parse(cleanJson(value, 2))).toEqual(value);
  expect(printed(text, 'write')).toBe(text);
});
