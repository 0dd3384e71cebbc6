import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Needles } from '../../../src/supervisor/verdict/needles.js';
import { redact, secretSpans } from '../../../src/supervisor/verdict/redact.js';
import { secretShapes, type SecretShape } from '../../../src/supervisor/verdict/secretShapes.js';
import { often } from '../../support/long.js';
import { secrets } from '../../support/secrets.js';

describe('the looks that spare the shapes', () => {
  it('pass over nothing that a shape would take', () => {
    fc.assert(
      fc.property(texts(), (text) => {
        expect(secretSpans(text)).toEqual(spansOfAll(text));
        expect(redact(text)).toBe(redactAll(text));
      }),
      { numRuns: often(3000, 300) },
    );
  });

  it('let every shape be reached', () => {
    for (const shape of secretShapes) {
      const found = fc
        .sample(matching(shape), { numRuns: often(300, 50), seed: 1 })
        .filter((text) => spansOfAll(text).length > 0);
      expect(found.length, String(shape.shape)).toBeGreaterThan(0);
      for (const text of found) expect(secretSpans(text)).toEqual(spansOfAll(text));
    }
  });
});

describe('needles', () => {
  it('are found where a search for each finds them, in any case', () => {
    const letters = fc.constantFrom(...'aAbBkK019-_=:. \u212a\u0130é');
    const needle = fc
      .array(fc.constantFrom(...'abk01-_#'), { minLength: 3, maxLength: 6 })
      .map((signs) => signs.join(''));
    fc.assert(
      fc.property(
        fc.array(needle, { minLength: 1, maxLength: 5 }),
        fc.array(letters, { maxLength: 60 }).map((signs) => signs.join('')),
        (all, text) => {
          const needles = new Needles(all.map((each) => ({ needle: each, of: each })));
          const wanted = all.filter((each) => new RegExp(each.replaceAll('#', '[0-9a-f]'), 'i').test(text));
          expect([...needles.allIn(text)].sort()).toEqual([...new Set(wanted)].sort());
          expect(needles.someIn(text)).toBe(wanted.length > 0);
        },
      ),
      { numRuns: often(5000, 1000) },
    );
  });
});

/** Every shape in turn, whatever the text looks like. */
function redactAll(text: string): string {
  let result = text;
  for (const { kind, shape, keep } of secretShapes)
    result = result.replace(shape, (_match: string, ...groups: unknown[]) => {
      const before = keep && typeof groups[0] === 'string' ? groups[0] : '';
      return `${before}[redacted ${kind}]${keep === 'around' && typeof groups[1] === 'string' ? groups[1] : ''}`;
    });
  return result;
}

function spansOfAll(text: string): readonly (readonly [number, number])[] {
  return secretShapes.flatMap(({ shape, keep }) =>
    [...text.matchAll(shape)].map((match): readonly [number, number] => {
      const from = match.index + (keep ? (match[1] ?? '').length : 0);
      return [from, match.index + match[0].length - (keep === 'around' ? (match[2] ?? '').length : 0)];
    }),
  );
}

/** Secrets, what looks like the beginning of one, and words, side by side. */
function texts(): fc.Arbitrary<string> {
  const hint = fc
    .constantFrom(...secretShapes.flatMap(({ hints }) => hints))
    .map((text) => text.replaceAll('#', 'a'));
  const part = fc.oneof(
    { weight: 3, arbitrary: fc.oneof(...secretShapes.map(matching)) },
    { weight: 2, arbitrary: fc.constantFrom(...secrets.map(([, text]) => text)) },
    { weight: 2, arbitrary: fc.mixedCase(hint) },
    { weight: 2, arbitrary: fc.stringMatching(/^[\w=:?&"' /@.\\-]{0,12}$/) },
    { weight: 1, arbitrary: fc.string({ unit: 'grapheme', maxLength: 8 }) },
  );
  return fc.array(part, { maxLength: 5 }).map((parts) => parts.join(''));
}

/** What a shape describes, but for what must not stand beside it. */
function matching({ shape }: SecretShape): fc.Arbitrary<string> {
  const plain = new RegExp(`^(?:${withoutLooks(shape.source)})$`);
  const made = fc.stringMatching(plain, { maxLength: 200 });
  return shape.flags.includes('i') ? fc.mixedCase(made) : made;
}

/** The regular expression without its looks ahead and behind. */
function withoutLooks(source: string): string {
  let text = source.replaceAll('\\b', '');
  for (let start = text.search(/\(\?<?!/); start >= 0; start = text.search(/\(\?<?!/)) {
    let depth = 0;
    let end = start;
    do {
      if (text[end] === '\\') end += 1;
      else if (text[end] === '(') depth += 1;
      else if (text[end] === ')') depth -= 1;
      end += 1;
    } while (depth > 0);
    text = text.slice(0, start) + text.slice(end);
  }
  return text;
}
