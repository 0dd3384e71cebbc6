import { readFileSync } from 'node:fs';
import type { Signal, VerdictContext } from '../src/supervisor/verdict/signal.js';
import { verdict } from '../src/supervisor/verdict/verdict.js';
import { readCases } from './verdictReport.js';

/** The approach to compare with: one expression over the text, as small tools do it. It is fast, and wrong where it matters. */
const NAIVE =
  /(usage limit|rate limit|quota|too many requests|429|overloaded|credit balance|token has expired|invalid api key|econnreset|timed out)(?:.*?resets?(?: at)? (\d{1,2}(?::\d{2})?\s?[ap]m))?/i;

const CONTEXT: VerdictContext = {
  observedAt: Date.parse('2026-06-10T10:00:00Z'),
  localTimeZone: 'Europe/Berlin',
  doing: 'ended',
};
const SIZE = 64 * 1024;

/** Texts of 64 KiB that hurt: what is repeated is the start of many rules, or of none. */
export function worstTexts(): ReadonlyMap<string, Signal> {
  const fill = (part: string): string => part.repeat(Math.ceil(SIZE / part.length)).slice(0, SIZE);
  const texts: Readonly<Record<string, string>> = {
    letters: fill('a'),
    spaces: fill(' '),
    'line ends': fill('\n'),
    digits: fill('1234567890'),
    'limit words': fill("You've hit your usage limit, resets at "),
    'near misses': fill('usage limi reache quot exceede '),
    'reset words': fill('resets in resets at try again '),
    clocks: fill('resets 3:30pm (Europe/Berlin) '),
    months: fill('jan feb mar apr may jun jul aug '),
    'open braces': fill('{"error":'),
    'open brackets': fill('['),
    'broken pairs': fill('{"a":"b\\" '),
    'python pairs': fill("{'error': 'x', "),
    'escape codes': fill('\x1b[31mred\x1b[0m '),
    'escaped letters': fill('\\u00b7'),
    chinese: fill('您的限额将在重置已达到'),
    accents: fill('réinitialisé à '),
    'short lines': fill('Error: x\n'),
    'prose lines': fill('the docs mention a rate limit of 60 requests per minute\n'),
    'event lines': fill(
      '{"type":"assistant","message":{"content":[{"type":"text","text":"usage limit"}]}}\n',
    ),
    'one event': JSON.stringify({ type: 'error', error: { message: fill('usage limit reached resets ') } }),
    'nested objects': `${'{"a":'.repeat(9000)}1${'}'.repeat(9000)}`,
    'wide object': JSON.stringify({
      error: Object.fromEntries(Array.from({ length: 3000 }, (_, n) => [`code_${n}`, `reset_${n}`])),
    }),
    bearer: fill('Bearer abcdefghijklm '),
    'key names': fill('API_KEY_TOKEN_SECRET_'),
    stack: fill('    at Fetch.onAborted (node:internal/deps/undici/undici:11736:53)\n'),
  };
  const signals = new Map<string, Signal>();
  for (const [name, text] of Object.entries(texts)) {
    signals.set(`${name}, stderr`, { channel: 'stderr', exitCode: 1, text });
    signals.set(`${name}, stdout`, { channel: 'stdout', text });
    signals.set(`${name}, http 429`, {
      channel: 'http',
      httpStatus: 429,
      text,
      headers: { 'retry-after': '30' },
    });
  }
  return signals;
}

/** Median milliseconds of processor time of one call, warm; a busy machine does not count. */
export function medianTime(run: () => void, rounds: number): number {
  for (let warm = 0; warm < 6; warm++) run();
  const times = Array.from({ length: rounds }, () => {
    const start = process.cpuUsage();
    run();
    const used = process.cpuUsage(start);
    return (used.user + used.system) / 1000;
  });
  return times.sort((a, b) => a - b)[Math.floor(rounds / 2)] ?? 0;
}

function main(): void {
  const cases = readCases('test/unit/verdict/corpus/cases.jsonl');
  const lines = readFileSync('test/unit/verdict/corpus/cases.jsonl', 'utf8')
    .split('\n')
    .filter((line) => line !== '');
  const signals = lines.map(
    (line) =>
      JSON.parse(line) as {
        channel: Signal['channel'];
        text: string;
        provider_or_cli: string;
        exit_code: number | null;
        http_status: number | null;
      },
  );
  const run = (): void => {
    for (const one of signals) {
      verdict(
        {
          channel: one.channel,
          text: one.text,
          providerOrCli: one.provider_or_cli,
          exitCode: one.exit_code ?? undefined,
          httpStatus: one.http_status ?? undefined,
        },
        CONTEXT,
      );
    }
  };
  const naive = (): void => {
    for (const one of signals) NAIVE.exec(one.text);
  };
  const own = medianTime(run, 9);
  const theirs = medianTime(naive, 9);
  const stop = (text: string): boolean => NAIVE.test(text);
  const negatives = cases.filter((one) => one.tricky_negative === true);
  console.log(
    `verdict      ${Math.round((1000 * cases.length) / own)} messages/s, ${((1000 * own) / cases.length).toFixed(0)} us each`,
  );
  console.log(
    `one regex    ${Math.round((1000 * cases.length) / theirs)} messages/s, ${((1000 * theirs) / cases.length).toFixed(1)} us each; it stops ${negatives.filter((one) => stop(one.text)).length} of ${negatives.length} healthy children and misses ${cases.filter((one) => one.expect.class !== 'none' && !stop(one.text)).length} of ${cases.filter((one) => one.expect.class !== 'none').length} failures`,
  );
  const worst = [...worstTexts()].map(([name, signal]) => ({
    name,
    own: medianTime(() => void verdict(signal, CONTEXT), 9),
    naive: medianTime(() => void NAIVE.exec(signal.text), 3),
  }));
  worst.sort((a, b) => b.own - a.own);
  console.log('\nworst cases of 64 KiB, median ms: verdict, one regex');
  for (const one of worst.slice(0, 16))
    console.log(
      `  ${one.name.padEnd(28)} ${one.own.toFixed(2).padStart(8)} ${one.naive.toFixed(2).padStart(8)}`,
    );
}

if (process.argv[1] !== undefined && /verdict\.[cm]?[jt]s$/.test(process.argv[1])) main();
