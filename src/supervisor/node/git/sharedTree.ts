import type { Repository } from '../../ports/git.js';
import type { SharedTree } from '../../ports/sharedTree.js';
import { checkComposite, compositeTree, placeCheck } from './composite.js';
import { createLedger } from './ledger.js';
import { carryOut, giveBack, quarantineChild, takeOutOfTree, type Alone } from './quarantine.js';
import { createRunner } from './runner.js';

export { liveEdits, parseEdits } from './edits.js';
export { installShims, withShims, type ShimOptions } from './shims.js';

export interface SharedTreeOptions {
  readonly git?: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly now?: () => number;
}

/** The user's tree as several children and a person share it. One for a repository at a time. */
export function createSharedTree(repository: Repository, options: SharedTreeOptions = {}): SharedTree {
  const runner = createRunner(options.git ?? 'git', options.env ?? process.env);
  const ledger = createLedger(runner, repository, options.now ?? Date.now);
  const alone: Alone = (act) => ledger.whileWriting(act);
  return {
    start: (running, unfinished = []) => ledger.start(running, unfinished),
    recent: () => ledger.recent(),
    ourWrite: (act, heard) => ledger.ourWrite(act, heard),
    writing: (writer, path, heard) => ledger.writing(writer, path, heard),
    wrote: (writer, path) => ledger.wrote(writer, path),
    shellStarted: (writer) => ledger.shellStarted(writer),
    shellEnded: (writer) => ledger.shellEnded(writer),
    look: (heard) => ledger.look(heard),
    quarantine: (request) => quarantineChild(runner, repository, request, alone),
    takeOut: (request) => takeOutOfTree(runner, repository, request, alone),
    repair: (plan) => carryOut(runner, repository, plan, () => Promise.resolve(), alone),
    giveBack: (plan) => giveBack(runner, repository, plan, alone),
    compositeTree: (half, others) => compositeTree(runner, repository, half, others),
    checkComposite: (request) => checkComposite(runner, repository, request),
    placeCheck: (request) => placeCheck(runner, repository, request),
    close: () => Promise.resolve(),
  };
}
