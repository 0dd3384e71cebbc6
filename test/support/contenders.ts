import type { ChildProcess } from 'node:child_process';
import { spawnDriver } from './driverBuild.js';
import type { Order } from './drivers/contender.js';

export interface Answer {
  readonly kind?: string | null;
  readonly failed?: string;
  readonly answer?: number;
  readonly epoch?: number;
  readonly last?: number;
  readonly pid?: number;
}

/** A process that opens folders on order. */
export class Contender {
  readonly told: string[] = [];
  private readonly process: ChildProcess;
  private readonly waiting: ((answer: Answer) => void)[] = [];

  constructor(driver: string) {
    this.process = spawnDriver(driver, []);
    this.process.on('message', (message: { readonly answer?: Answer; readonly told?: string }) => {
      if (message.told !== undefined) this.told.push(message.told);
      else if (message.answer !== undefined) this.waiting.shift()?.(message.answer);
    });
    this.process.stderr?.on('data', (chunk: Buffer) => this.told.push(`stderr: ${chunk.toString()}`));
  }

  get pid(): number {
    return this.process.pid ?? 0;
  }

  order(order: Order): Promise<Answer> {
    return new Promise((resolve) => {
      this.waiting.push(resolve);
      this.process.send(order);
    });
  }

  signal(name: NodeJS.Signals): void {
    this.process.kill(name);
  }

  async end(): Promise<void> {
    if (this.process.exitCode !== null || this.process.signalCode !== null) return;
    const ended = new Promise((resolve) => this.process.once('exit', resolve));
    this.process.kill('SIGKILL');
    await ended;
  }
}

/**
 * So many rounds in which all open the same folder at the same moment. Exactly one must own it, and the others' wishes
 * must reach it. Returns what went wrong.
 */
export async function race(
  contenders: readonly Contender[],
  folder: string,
  rounds: number,
): Promise<readonly string[]> {
  const wrong: string[] = [];
  let expected = 0;
  for (let round = 1; round <= rounds; round++) {
    const opened = await Promise.all(contenders.map((one) => one.order({ do: 'open', folder })));
    const owners = opened.filter((one) => one.kind === 'owner');
    if (owners.length !== 1 || opened.some((one) => one.kind !== 'owner' && one.kind !== 'viewer'))
      wrong.push(`round ${round}: ${JSON.stringify(opened)}`);
    if (owners[0]?.last !== expected)
      wrong.push(`round ${round}: ${expected} events were there, ${owners[0]?.last} read`);
    const answers = await Promise.all(contenders.map((one) => one.order({ do: 'append' })));
    expected += contenders.length;
    const numbers = answers.map((one) => one.answer ?? 0).sort((a, b) => a - b);
    const due = contenders.map((_, index) => expected - contenders.length + index + 1);
    if (JSON.stringify(numbers) !== JSON.stringify(due))
      wrong.push(`round ${round}: ${JSON.stringify(answers)}`);
    await Promise.all(contenders.map((one) => one.order({ do: 'close' })));
    if (wrong.length > 3) break;
  }
  return wrong;
}
