import path from 'node:path';
import type { Answer, Request } from '../protocol/request.js';
import type { View } from '../protocol/view.js';
import type { OpenSupervisor, Supervisor, SupervisorOptions } from './api.js';
import type { Notice } from './core/effect.js';
import { initialState } from './core/initial.js';
import { deriveView } from './core/view.js';
import { messageOf } from './effects/context.js';
import { preflight } from './launch.js';
import { startOwner, type Owner } from './owner.js';
import type { Connection, OpenedStore, Repository } from './ports.js';
import { refused } from './answers.js';

type Role = 'owner' | 'viewer' | 'readOnly' | 'gone';

/** What this process is to the folder at the moment. */
type Part =
  /** There is no `.swarm` yet: it is made by the first launch that nothing is wrong with. */
  | { readonly kind: 'dormant' }
  | { readonly kind: 'owner'; readonly owner: Owner }
  | { readonly kind: 'viewer'; readonly connection: Connection }
  | { readonly kind: 'readOnly'; readonly writtenBy: string }
  /** Between two parts, or for good after `close`. */
  | { readonly kind: 'none' };

/** Opens a folder: owner if nobody else is, else viewer; a viewer takes over when its owner dies. */
export const openSupervisor: OpenSupervisor = async (options) => {
  const repository = await options.git.inspect(options.folder);
  if (!repository.ok) return { ok: false, code: 3, message: repository.message, fix: repository.fix };
  const swarmFolder = path.join(repository.topLevel, '.swarm');
  const opened = await openOurs(options, repository, swarmFolder, false);
  if (opened.kind === 'refused') return { ok: false, code: 3, message: opened.message, fix: opened.fix };
  const roles = createRoles(options, repository, swarmFolder);
  await roles.become(opened);
  return { ok: true, supervisor: roles.supervisor };
};

/** What came with the repository is somebody else's: its batches would start programs that nobody here has seen. */
async function openOurs(
  options: SupervisorOptions,
  repository: Repository,
  swarmFolder: string,
  create: boolean,
): Promise<OpenedStore> {
  if (!(await options.git.tracks(repository, '.swarm'))) return options.openStore(swarmFolder, { create });
  return {
    kind: 'refused',
    message: `${swarmFolder} belongs to the repository: git tracks files of it. Nothing of it is used or started.`,
    fix: 'Remove it and commit that (git rm -r .swarm). If the batches in it are your own, "git rm -r --cached .swarm" keeps them.',
  };
}

/** Another owner is looked for this often, and a dead one replaced as soon as it is noticed. */
const retryEvery = 250;
/** How long a viewer waits for the owner's first view; an owner that has nothing to show sends none. */
const firstViewWithin = 1000;
const removedFolder =
  'It was removed or moved away while it was in use. Its agents go on by themselves, and their work is in their worktrees.';
/** How long the folder is left to whoever asked for it. */
const handOverFor = 2000;

function createRoles(
  options: SupervisorOptions,
  repository: Repository,
  swarmFolder: string,
): { readonly supervisor: Supervisor; become(opened: OpenedStore): Promise<void> } {
  const { clock, log } = options;
  const viewListeners = new Set<(view: View) => void>();
  const noticeListeners = new Set<(notice: Notice) => void>();
  const roleListeners = new Set<(role: Role) => void>();
  let part: Part = { kind: 'none' };
  let view: View = emptyView(options);
  let closed = false;
  let told: Role = 'gone';

  function roleOf(): Role {
    if (part.kind === 'none') return 'gone';
    return part.kind === 'dormant' ? 'owner' : part.kind;
  }

  function tellRole(): void {
    const role = roleOf();
    if (role === told) return;
    told = role;
    for (const listener of roleListeners) listener(role);
  }

  function show(next: View): void {
    view = next;
    for (const listener of viewListeners) listener(next);
  }

  async function become(opened: OpenedStore): Promise<void> {
    switch (opened.kind) {
      case 'absent':
        part = { kind: 'dormant' };
        // Nothing of it is known any more, and that is not the same as that all is done.
        if (view.batches.length > 0)
          show({ ...emptyView(options), problems: [{ path: swarmFolder, message: removedFolder }] });
        break;
      case 'owner': {
        let started: Owner | null = null;
        let lost = false;
        const leave = (wait: number) => {
          lost = true;
          if (part.kind === 'owner' && part.owner === started) seek(wait);
        };
        const owner = await startOwner(options, repository, opened.store, {
          view: show,
          notice: (notice) => noticeListeners.forEach((listener) => listener(notice)),
          lost: () => leave(0),
          handOver: () => {
            void started?.close({ stopAgents: false }).then(
              () => leave(handOverFor),
              (error: unknown) => log.error(`The folder could not be given up: ${messageOf(error)}`),
            );
          },
        });
        started = owner;
        // Closed while it was being started.
        if (closed) return owner.close({ stopAgents: false });
        if (lost) return seek(0);
        part = { kind: 'owner', owner };
        show(owner.view());
        break;
      }
      case 'viewer':
        part = { kind: 'viewer', connection: opened.connection };
        await follow(opened.connection);
        break;
      case 'readOnly':
        part = { kind: 'readOnly', writtenBy: opened.writtenBy };
        if (opened.view !== null) show(opened.view);
        break;
      case 'refused':
        throw new Error(`${opened.message} ${opened.fix}`);
      default:
        opened satisfies never;
    }
    tellRole();
  }

  /** Resolves when the owner has shown what there is, so that nobody takes an empty view for an empty folder. */
  function follow(connection: Connection): Promise<void> {
    return new Promise((resolve) => {
      const late = clock.timer(clock.now() + firstViewWithin, resolve);
      const done = (): void => {
        late.dispose();
        resolve();
      };
      connection.onView((next) => {
        if (part.kind === 'viewer' && part.connection === connection) show(next);
        done();
      });
      void connection.closed.then(() => {
        if (part.kind === 'viewer' && part.connection === connection) seek(0);
        done();
      });
    });
  }

  /** Looks for a part again, until there is one. */
  function seek(wait: number): void {
    part = { kind: 'none' };
    if (closed) return;
    if (wait > 0) {
      tellRole();
      clock.timer(clock.now() + wait, () => seek(0));
      return;
    }
    void seekNow().catch((error: unknown) => {
      log.warn(`The folder could not be opened again: ${messageOf(error)}`);
      if (!closed) clock.timer(clock.now() + retryEvery, () => seek(0));
    });
  }

  async function seekNow(): Promise<void> {
    const opened = await options.openStore(swarmFolder, { create: false });
    if (closed) {
      if (opened.kind === 'owner') await opened.store.close();
      if (opened.kind === 'viewer') opened.connection.close();
      return;
    }
    await become(opened);
  }

  async function request(wanted: Request): Promise<Answer> {
    switch (part.kind) {
      case 'owner':
        return part.owner.request(wanted);
      case 'viewer':
        return ask(part.connection, wanted);
      case 'dormant':
        return awake(wanted);
      case 'readOnly':
        return refused(
          3,
          `.swarm was written by version ${part.writtenBy}, which is newer`,
          'Update Swarm Panel.',
        );
      case 'none':
        return refused(3, 'The owner of this folder has gone', 'Ask again in a moment.');
      default:
        return part satisfies never;
    }
  }

  /** The first launch makes the folder; whatever is refused leaves none. */
  async function awake(wanted: Request): Promise<Answer> {
    if (wanted.type === 'clean') return { ok: true, removed: [], kept: [] };
    if (wanted.type !== 'launch') return refused(2, 'There is no batch in this folder', 'Launch one first.');
    const now = await options.git.inspect(options.folder);
    if (!now.ok) return refused(3, now.message, now.fix);
    const checked = await preflight(options, repository, wanted);
    if (!checked.ok) return checked.answer;
    // Another request may have made it meanwhile.
    if (part.kind !== 'dormant') return request(wanted);
    const opened = await openOurs(options, repository, swarmFolder, true);
    if (opened.kind === 'refused') return refused(3, opened.message, opened.fix);
    await become(opened);
    return request(wanted);
  }

  const supervisor: Supervisor = {
    get role() {
      const role = roleOf();
      return role === 'gone' ? 'viewer' : role;
    },
    view: () => (part.kind === 'owner' ? part.owner.view() : view),
    onView(listener) {
      viewListeners.add(listener);
      listener(supervisor.view());
      return { dispose: () => void viewListeners.delete(listener) };
    },
    onNotice(listener) {
      noticeListeners.add(listener);
      return { dispose: () => void noticeListeners.delete(listener) };
    },
    onRole(listener) {
      roleListeners.add(listener);
      return { dispose: () => void roleListeners.delete(listener) };
    },
    request,
    settled: () => (part.kind === 'owner' ? part.owner.settled() : Promise.resolve()),
    async close(how) {
      if (closed) return;
      closed = true;
      const last = part;
      if (last.kind === 'owner') {
        await last.owner.close(how);
        view = last.owner.view();
      }
      part = { kind: 'none' };
      if (last.kind === 'viewer') last.connection.close();
      tellRole();
    },
  };
  return { supervisor, become };
}

async function ask(connection: Connection, wanted: Request): Promise<Answer> {
  try {
    const answer = await connection.request(wanted);
    if (isAnswer(answer)) return answer;
    return refused(
      3,
      'The owner of this folder answered in words that are not known',
      'Use the same version.',
    );
  } catch (error) {
    return refused(3, `The owner of this folder did not answer: ${messageOf(error)}`, 'Ask again.');
  }
}

function isAnswer(value: unknown): value is Answer {
  if (typeof value !== 'object' || value === null || !('ok' in value)) return false;
  return value.ok === true || (value.ok === false && 'errors' in value && Array.isArray(value.errors));
}

function emptyView(options: SupervisorOptions): View {
  const state = initialState({ maxConcurrent: options.settings.maxConcurrent, askAbove: null });
  return deriveView({ ...state, at: options.clock.now() }, []);
}
