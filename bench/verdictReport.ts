import { readFileSync } from 'node:fs';
import { classifyLine } from '../src/supervisor/verdict/classify.js';

/** One case of the corpus, as far as the report reads it. */
export interface CorpusCase {
  readonly id: string;
  readonly provider_or_cli: string;
  readonly notation: string | null;
  readonly tricky_negative?: boolean;
  readonly text: string;
  readonly expect: {
    readonly class: string;
    readonly accept_classes?: readonly string[] | null;
    readonly recoverable: boolean;
    readonly needs_user: boolean;
    readonly reset_at: string | null;
    readonly alt_reset_at?: string | null;
    readonly advisory_reset_at?: string | null;
    readonly scope: string;
  };
}

/** How one case was read, against what it should be. */
export interface Outcome {
  readonly case: CorpusCase;
  readonly answer: Readonly<Record<string, unknown>>;
  readonly classRight: boolean;
  /** Null where the case states no time. */
  readonly timeRight: boolean | null;
  /** A time was scheduled where nobody stated one. */
  readonly timeInvented: boolean;
  readonly falsePause: boolean;
  readonly detailsRight: boolean;
}

export function readCases(file: string): readonly CorpusCase[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => JSON.parse(line) as CorpusCase);
}

export function judgeCase(one: CorpusCase): Outcome {
  const { json: answer } = classifyLine(JSON.stringify(one), { explain: false });
  const { expect } = one;
  const said = answer['class'];
  const near = (iso: string | null | undefined): boolean =>
    typeof iso === 'string' &&
    typeof answer['resetAt'] === 'string' &&
    Math.abs(Date.parse(answer['resetAt']) - Date.parse(iso)) <= 60_000;
  const classRight = said === expect.class || (expect.accept_classes ?? []).includes(String(said));
  return {
    case: one,
    answer,
    classRight,
    timeRight: expect.reset_at === null ? null : near(expect.reset_at) || near(expect.alt_reset_at),
    timeInvented: expect.reset_at === null && answer['resetAt'] !== null && !near(expect.alt_reset_at),
    falsePause:
      one.tricky_negative === true &&
      said !== 'none' &&
      !(expect.accept_classes ?? []).includes(String(said)),
    detailsRight:
      said !== expect.class ||
      said === 'none' ||
      (answer['recoverable'] === expect.recoverable &&
        answer['needsUser'] === expect.needs_user &&
        answer['scope'] === expect.scope),
  };
}

/** The report: accuracies, per notation and provider, and every miss by name. */
export function report(outcomes: readonly Outcome[]): string {
  const share = (right: number, all: number): string =>
    `${right}/${all} (${all === 0 ? '-' : ((100 * right) / all).toFixed(2)} %)`;
  const timed = outcomes.filter((one) => one.timeRight !== null);
  const lines = [
    `class right      ${share(outcomes.filter((one) => one.classRight).length, outcomes.length)}`,
    `time right       ${share(timed.filter((one) => one.timeRight).length, timed.length)}`,
    `time invented    ${outcomes.filter((one) => one.timeInvented).length}`,
    `false pauses     ${outcomes.filter((one) => one.falsePause).length}`,
    `details right    ${share(outcomes.filter((one) => one.detailsRight).length, outcomes.length)}`,
  ];
  for (const [title, keyOf] of [
    ['notation', (one: Outcome) => one.case.notation ?? '(none)'],
    ['provider', (one: Outcome) => one.case.provider_or_cli],
  ] as const) {
    lines.push('', `by ${title}: class right / all, times right / stated, false pauses`);
    const groups = new Map<string, Outcome[]>();
    for (const one of outcomes) groups.set(keyOf(one), [...(groups.get(keyOf(one)) ?? []), one]);
    for (const [name, group] of [...groups].sort((a, b) => b[1].length - a[1].length)) {
      const stated = group.filter((one) => one.timeRight !== null);
      lines.push(
        `  ${name.padEnd(44)} ${group.filter((one) => one.classRight).length}/${group.length}  ${stated.filter((one) => one.timeRight).length}/${stated.length}  ${group.filter((one) => one.falsePause).length}`,
      );
    }
  }
  const missed = outcomes.filter(
    (one) =>
      !one.classRight || one.timeRight === false || one.timeInvented || one.falsePause || !one.detailsRight,
  );
  lines.push('', `misses: ${missed.length}`);
  for (const one of missed) {
    const { expect } = one.case;
    lines.push(
      `  ${one.case.id} ${one.classRight ? '' : 'CLASS '}${one.timeRight === false ? 'TIME ' : ''}${one.timeInvented ? 'INVENTED ' : ''}${one.detailsRight ? '' : 'DETAILS'}`,
    );
    lines.push(
      `    want ${expect.class} ${expect.reset_at ?? '-'} recoverable=${expect.recoverable} needsUser=${expect.needs_user} ${expect.scope}`,
    );
    lines.push(
      `    got  ${String(one.answer['class'])} ${String(one.answer['resetAt'])} recoverable=${String(one.answer['recoverable'])} needsUser=${String(one.answer['needsUser'])} ${String(one.answer['scope'])}`,
    );
    lines.push(`    ${JSON.stringify(one.case.text).slice(0, 220)}`);
  }
  return lines.join('\n');
}

if (process.argv[1] !== undefined && /verdictReport\.[cm]?[jt]s$/.test(process.argv[1])) {
  const files = process.argv.slice(2);
  for (const file of files.length > 0
    ? files
    : ['test/unit/verdict/corpus/cases.jsonl', 'test/unit/verdict/corpus/more.jsonl']) {
    console.log(`${file}\n${report(readCases(file).map(judgeCase))}\n`);
  }
}
