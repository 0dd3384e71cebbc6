import type { ToPanel } from '../../protocol/messages.js';
import type { Answer, Request } from '../../protocol/request.js';
import type {
  BatchAction,
  BatchView,
  ChildAction,
  ChildView,
  GateAction,
  GateView,
  View,
} from '../../protocol/view.js';
import type { Log } from '../../supervisor/ports.js';
import { sameGate } from '../mergedView.js';
import {
  batchRequest,
  candidates,
  childRequests,
  findChild,
  gateAtRequest,
  gateRequest,
  type GateTarget,
  type Target,
} from '../requests.js';
import type { Vscode } from '../vscodeTypes.js';
import type { WorkspaceSupervisors } from '../workspaceSupervisors.js';
import { reportAnswer } from './answers.js';
import { confirm, pickTime, priceQuestion, resumeNowQuestion, stopQuestion } from './questions.js';
import type { Showing } from './showing.js';

export interface ActionsOptions {
  readonly vscode: Vscode;
  readonly supervisors: WorkspaceSupervisors;
  readonly showing: Showing;
  readonly signIn: (executor: string, topLevel: string | null) => Promise<void>;
  readonly runCheckTask: (topLevel: string | null) => Promise<void>;
  readonly post: (message: ToPanel) => void;
  readonly askAbove: () => number | null;
  readonly log: Log & { show(): void };
}

/**
 * What a person can do to children, batches and accounts. The panel, the palette and the notifications all come
 * through here: questions first, then requests to the supervisor that holds the batch.
 */
export interface Actions {
  child(action: ChildAction, targets: readonly Target[]): Promise<void>;
  batch(action: BatchAction, batch: string): Promise<void>;
  gate(action: GateAction, gate: GateTarget): Promise<void>;
  /** Everything that is ready in every batch. */
  applyAll(): Promise<void>;
  pauseAll(): Promise<void>;
  resumeAll(): Promise<void>;
}

export function createActions(options: ActionsOptions): Actions {
  const { vscode, supervisors, showing, log } = options;
  const { l10n, window } = vscode;
  const view = (): View => supervisors.view();

  async function send(batch: string, request: Request): Promise<boolean> {
    const holder = supervisors.holder(batch);
    if (holder === null) {
      void window.showInformationMessage(l10n.t('This batch is not there any more.'));
      return false;
    }
    return accepted(await holder.supervisor.request(request));
  }

  function accepted(answer: Answer): boolean {
    return reportAnswer(vscode, log, answer, '');
  }

  /** A request names one repository's children: what was chosen over several goes to each. */
  async function sendEach(
    targets: readonly Target[],
    make: (targets: readonly Target[]) => readonly Request[],
  ): Promise<void> {
    for (const batch of new Set(targets.map((target) => target.batch)))
      for (const request of make(targets.filter((target) => target.batch === batch)))
        await send(batch, request);
  }

  async function child(action: ChildAction, wanted: readonly Target[]): Promise<void> {
    const found = wanted.flatMap((target) => {
      const there = findChild(view(), target);
      return there === null ? [] : [{ target, child: there }];
    });
    const [first] = found;
    if (first === undefined) {
      void window.showInformationMessage(l10n.t('This child is not there any more.'));
      return;
    }
    const targets = found.map(({ target }) => target);
    const children = found.map((one) => one.child);
    const topLevel = supervisors.holder(first.target.batch)?.topLevel ?? null;
    switch (action) {
      case 'why':
        options.post({ type: 'why', ...first.target, lines: await showing.why(first.target) });
        return;
      case 'signIn':
        return options.signIn(first.child.executor, topLevel);
      case 'openSetting':
        return openSetting(vscode, 'swarm.executors');
      case 'review':
        return showing.review(
          targets,
          children.length === 1 ? first.child.title : l10n.t('{0} children', children.length),
        );
      case 'log':
        return showing.log(first.target);
      case 'worktree':
        return showing.worktree(first.target);
      case 'checkpoint':
        return showing.checkpoint(first.target);
      case 'copyReport':
        return showing.report(first.target);
      case 'showErrors':
        await options.runCheckTask(topLevel);
        await vscode.commands.executeCommand('workbench.actions.view.problems');
        return;
      case 'resumeAt': {
        const resetAt = first.child.resetAt === null ? null : Date.parse(first.child.resetAt);
        const at = await pickTime(vscode, resetAt, Date.now);
        if (at !== null) await sendEach(targets, (some) => [{ type: 'resumeAt', targets: [...some], at }]);
        return;
      }
      case 'stop':
        if (await confirm(vscode, stopQuestion(children, vscode)))
          await sendEach(targets, (some) => childRequests(action, some));
        return;
      case 'resumeNow':
      case 'resume':
      case 'startFresh':
        if (await mayResume(children, action === 'startFresh'))
          await sendEach(targets, (some) => childRequests(action, some));
        return;
      case 'dontResume':
      case 'startNext':
      case 'pause':
      case 'retry':
      case 'apply':
      case 'giveBack':
      case 'restore':
      case 'check':
      case 'moveLeft':
      case 'keepLeft':
        await sendEach(targets, (some) => childRequests(action, some));
        return;
      default:
        return action satisfies never;
    }
  }

  /** One question at most: before a stated reset it is about the account, else about the price. */
  async function mayResume(children: readonly ChildView[], fresh: boolean): Promise<boolean> {
    const gates = new Set(children.flatMap((one) => gateOf(view(), one) ?? []));
    for (const gate of gates) {
      const question = resumeNowQuestion(gate, Date.now(), vscode);
      if (question !== null) return confirm(vscode, question);
    }
    return confirm(vscode, priceQuestion(children, fresh, options.askAbove(), vscode));
  }

  async function batch(action: BatchAction, id: string): Promise<void> {
    const found = view().batches.find((other) => other.id === id);
    if (found === undefined) {
      void window.showInformationMessage(l10n.t('This batch is not there any more.'));
      return;
    }
    if (action === 'reviewAll') {
      const changed = found.children.filter((one) => one.snapshot !== null);
      await showing.review(
        changed.map((one) => ({ batch: id, child: one.id })),
        found.name,
      );
      return;
    }
    const request = batchRequest(action, found);
    if (request === null) {
      void window.showInformationMessage(l10n.t('No child can do that now.'));
      return;
    }
    if (await mayDo(action, found)) await send(id, request);
  }

  async function mayDo(action: BatchAction, found: BatchView): Promise<boolean> {
    const can = (...wanted: readonly ChildAction[]): readonly ChildView[] =>
      found.children.filter((one) => wanted.some((wish) => one.actions.includes(wish)));
    if (action === 'stopAll') return confirm(vscode, stopQuestion(can('stop'), vscode));
    if (action === 'resumeAll') return mayResume(can('resumeNow', 'resume'), false);
    return true;
  }

  async function gate(action: GateAction, target: GateTarget): Promise<void> {
    const found = view().gates.find((other) => sameGate(other, target));
    switch (action) {
      case 'signIn': {
        const waiting = view().batches.flatMap((one) =>
          one.children.filter((other) => other.credential === target.credential),
        );
        const holder = view().batches.find((one) => one.children.some((other) => waiting.includes(other)));
        const topLevel = holder === undefined ? null : (supervisors.holder(holder.id)?.topLevel ?? null);
        return options.signIn(waiting[0]?.executor ?? target.credential, topLevel);
      }
      case 'openSetting':
        return openSetting(vscode, found?.display === 'near' ? 'swarm.limits.holdAbove' : 'swarm.resume');
      case 'resumeAt': {
        const at = await pickTime(vscode, found?.until ? Date.parse(found.until) : null, Date.now);
        if (at !== null) await toGate(gateAtRequest(target, at), target);
        return;
      }
      case 'resumeNow':
        if (found !== undefined && !(await confirm(vscode, resumeNowQuestion(found, Date.now(), vscode))))
          return;
        return toGate(gateRequest(action, target), target);
      case 'tryAgain':
      case 'resumeAtReset':
      case 'dontResume':
        return toGate(gateRequest(action, target), target);
      default:
        return action satisfies never;
    }
  }

  /** An account is closed in every folder that uses it: each of them is told. */
  async function toGate(request: Request, target: GateTarget): Promise<void> {
    const concerned = supervisors
      .open()
      .filter((one) => one.view().gates.some((other) => sameGate(other, target)));
    for (const supervisor of concerned) accepted(await supervisor.request(request));
  }

  /** The same for every child of every batch that allows it. */
  async function all(wanted: readonly ChildAction[]): Promise<void> {
    const found = candidates(view(), wanted);
    const [first] = found;
    if (first === undefined) {
      void window.showInformationMessage(l10n.t('No child can do that now.'));
      return;
    }
    await child(
      first.action,
      found.map(({ target }) => target),
    );
  }

  return {
    child,
    batch,
    gate,
    applyAll: () => all(['apply']),
    pauseAll: () => all(['pause']),
    resumeAll: () => all(['resumeNow', 'resume']),
  };
}

/** The closed gate a child waits behind: its model's, else its account's. */
function gateOf(view: View, child: ChildView): GateView | null {
  const closed = view.gates.filter((gate) => gate.credential === child.credential && gate.state !== 'open');
  return (
    closed.find((gate) => gate.model !== undefined && gate.model === child.model) ??
    closed.find((gate) => gate.model === undefined) ??
    null
  );
}

async function openSetting(vscode: Vscode, query: string): Promise<void> {
  await vscode.commands.executeCommand('workbench.action.openSettings', query);
}
