import type { View } from '../../../src/protocol/view.js';
import type { Answer, Request } from '../../../src/protocol/request.js';
import type { Supervisor, SupervisorOptions } from '../../../src/supervisor/api.js';
import { parseSettings } from '../../../src/supervisor/settings.js';
import { openSupervisor } from '../../../src/supervisor/supervisor.js';
import type { Notice } from '../../../src/supervisor/core/effect.js';
import { FakeClock, settle } from '../../support/fakeClock.js';
import { FakeGit } from '../../support/fakeGit.js';
import { FakeProcesses, type FakeProcess } from '../../support/fakeProcesses.js';
import { MemoryDisk } from '../../support/memoryStore.js';

/** The world around supervisors, all in memory: it outlives each of them. */
export class Town {
  readonly clock = new FakeClock();
  readonly disk = new MemoryDisk();
  readonly git = new FakeGit();
  readonly processes = new FakeProcesses();
  readonly log: string[] = [];
  readonly notices: Notice[] = [];
  private randoms = 0;

  options(openStore: SupervisorOptions['openStore'] = this.disk.openStore): SupervisorOptions {
    return {
      folder: '/repo',
      version: '0.0.0-test',
      clock: this.clock,
      log: {
        info: (message) => this.log.push(`info ${message}`),
        warn: (message) => this.log.push(`warn ${message}`),
        error: (message) => this.log.push(`error ${message}`),
      },
      git: this.git,
      processes: this.processes,
      openStore,
      settings: parseSettings({}).settings,
      env: { PATH: '/usr/bin', HOME: '/home/dev', SECRET: 'do-not-tell', SWARM_SOCKET: 'ours' },
      random: (bytes) =>
        (++this.randoms)
          .toString(16)
          .padStart(bytes * 2, '0')
          .slice(-bytes * 2),
    };
  }

  async open(openStore?: SupervisorOptions['openStore']): Promise<Supervisor> {
    const opened = await openSupervisor(this.options(openStore));
    if (!opened.ok) throw new Error(opened.message);
    opened.supervisor.onNotice((notice) => this.notices.push(notice));
    return opened.supervisor;
  }

  /** Lets everything that is under way come to rest, without letting time pass. */
  async rest(supervisor: Supervisor): Promise<void> {
    for (let turn = 0; turn < 4; turn++) {
      await settle(4);
      await supervisor.settled();
    }
  }

  /** Lets time pass, from timer to timer, until the view is as wanted. */
  async until(supervisor: Supervisor, what: string, wanted: (view: View) => boolean): Promise<View> {
    for (let step = 0; step < 3000; step++) {
      await this.rest(supervisor);
      const view = supervisor.view();
      if (wanted(view)) return view;
      const next = this.clock.pending()[0];
      if (next === undefined) break;
      await this.clock.advanceTo(Math.max(next, this.clock.now()));
    }
    throw new Error(`never seen: ${what}\n${draw(supervisor.view())}\n${this.log.join('\n')}`);
  }
}

export function draw(view: View): string {
  return [
    ...view.gates.map((gate) => `${gate.credential} ${gate.state}`),
    ...view.batches.flatMap((batch) => [
      `${batch.name} ${batch.status}`,
      ...batch.children.map(
        (child) =>
          `  ${child.id} ${child.status}${child.reason === null ? '' : ` ${child.reason.class}`} x${child.attempts}`,
      ),
    ]),
  ].join('\n');
}

export function launchRequest(manifest: object): Request {
  return {
    type: 'launch',
    manifest: { kind: 'json', text: JSON.stringify(manifest), name: 'story.json' },
    consent: true,
  };
}

export const sixTasks = {
  version: 1,
  name: 'story',
  executor: 'fake',
  executors: { fake: { adapter: 'command', command: ['/bin/agent'], env: { KEY: '${env:SECRET}' } } },
  maxConcurrent: 2,
  tasks: ['a', 'b', 'c', 'd', 'e', 'f'].map((id) => ({ id, prompt: `make ${id}` })),
};

export function batchOf(answer: Answer): string {
  if (!answer.ok || answer.batch === undefined) throw new Error(JSON.stringify(answer));
  return answer.batch;
}

/** An account that allows some calls, then none until a reset; and agents that pay with it. */
export class Account {
  calls = 0;
  until: number | null = null;
  /** `child` of each attempt that called while the account was closed. */
  readonly refused: string[] = [];

  constructor(
    private readonly town: Town,
    private readonly limit: number,
    private readonly wait = 3_600_000,
  ) {
    town.processes.onStart = (process) => this.play(process);
  }

  play(process: FakeProcess): void {
    const { SWARM_CHILD = '', SWARM_SESSION } = process.request.env;
    const { cwd } = process.request;
    process.print({ type: 'session', id: SWARM_SESSION ?? `session-${SWARM_CHILD}` });
    process.print({ type: 'read', path: 'README.md' });
    if (!this.town.git.edits.has(cwd)) {
      this.town.git.edits.set(cwd, 1);
      process.print({ type: 'write', path: `${SWARM_CHILD}.txt` });
    }
    const now = this.town.clock.now();
    if (this.calls >= this.limit && (this.until === null || now < this.until)) {
      this.until ??= now + this.wait;
      this.refused.push(SWARM_CHILD);
      process.print({
        type: 'limit',
        status: 'rejected',
        resetsAt: this.until / 1000,
        window: 'five_hour',
      });
      process.exit(1);
      return;
    }
    this.calls += 1;
    this.town.git.edits.set(cwd, 2);
    process.print({ type: 'write', path: `${SWARM_CHILD}.txt` });
    process.print({ type: 'done', result: `made ${SWARM_CHILD}` });
    process.exit(0);
  }
}
