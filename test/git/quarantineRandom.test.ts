import { existsSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { allFiles, createRepo } from './repo.js';
import { share } from './shared.js';

/** More rounds for the long hunt: `SWARM_SEEDED_ROUNDS=2000 SWARM_SEED=7 npx vitest run --project process test/git/quarantineRandom.test.ts`. */
const rounds = Number(process.env['SWARM_SEEDED_ROUNDS'] ?? 12);
const seed = Number(process.env['SWARM_SEED'] ?? 1);
const roundsPerRepo = 20;

const kinds = ['one', 'two', 'three', 'you'] as const;
type Kind = (typeof kinds)[number];
const fileNames = ['a.txt', 'b.txt', 'dir/c.txt'] as const;
const slotsPerZone = 5;

/** A file is slots of text; each has one kind of writer, and a line that nobody writes parts their zones. */
const baseSlots: readonly string[] = kinds.flatMap((kind) =>
  Array.from({ length: slotsPerZone }, (_, at) => `${kind} ${at}\n`),
);

/** All that one writer wrote in its life: slots by file and number, and files of its own (null: removed). */
interface Work {
  readonly slots: Map<string, string>;
  readonly own: Map<string, string>;
}

/** Base with the work of some writers. */
function filesOf(works: readonly Work[]): ReadonlyMap<string, string> {
  const files = new Map<string, string>();
  for (const name of fileNames) {
    const slots = baseSlots.map((slot, at) => {
      const written = works
        .map((work) => work.slots.get(`${name}#${at}`))
        .find((content) => content !== undefined);
      return (at % slotsPerZone === 0 ? `--- ${name} ${at}\n` : '') + (written ?? slot);
    });
    files.set(name, slots.join(''));
  }
  for (const work of works) for (const [name, content] of work.own) files.set(name, content);
  return files;
}

test(
  `seed ${seed}, ${rounds} rounds: the tree is base and the others’ edits, the worktree base and its own, and giving back loses no byte`,
  { timeout: 6 * 3600 * 1000 },
  async () => {
    const random = generator(seed);
    for (let done = 0; done < rounds; done += roundsPerRepo)
      await runRepo(random, Math.min(roundsPerRepo, rounds - done), `seed ${seed}, from round ${done}`);
  },
);

async function runRepo(random: () => number, count: number, name: string): Promise<void> {
  const repo = await createRepo(Object.fromEntries(filesOf([])));
  const { act, tool, quarantine, tree, take, worktreeOf } = await share(repo);
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item;
  const newWork = (): Work => ({ slots: new Map(), own: new Map() });
  const works = new Map<Kind, Work>(kinds.map((kind) => [kind, newWork()]));
  const ids = new Map<Kind, string>(kinds.map((kind) => [kind, kind]));
  const log: string[] = [name];
  const user = repo.userState();
  let born = 0;

  async function edit(kind: Kind): Promise<void> {
    const id = ids.get(kind) ?? kind;
    const work = works.get(kind) ?? newWork();
    const touched = new Set<string>();
    for (let left = 1 + Math.floor(random() * 3); left > 0; left -= 1)
      if (random() < 0.75) {
        const file = pick(fileNames);
        const at = kinds.indexOf(kind) * slotsPerZone + Math.floor(random() * slotsPerZone);
        const more = random() < 0.3 ? `${random()}\n` : '';
        work.slots.set(`${file}#${at}`, random() < 0.15 ? '' : `${id} ${random()}\n${more}`);
        touched.add(file);
      } else {
        const file = `${id}/${Math.floor(random() * 4)}${random() < 0.5 ? '.bin' : ' "x"\n.txt'}`;
        if (work.own.has(file) && random() < 0.4) work.own.delete(file);
        else work.own.set(file, `${random()}\0${random()}`);
        touched.add(file);
      }
    log.push(`${id}: ${[...touched].map((file) => JSON.stringify(file)).join(' ')}`);
    const now = filesOf([...works.values()]);
    const write = (file: string): void => {
      const content = now.get(file);
      if (content === undefined) rmSync(path.join(repo.top, file), { force: true });
      else repo.write(file, content);
    };
    if (kind === 'you' || random() < 0.5) await act(id, () => [...touched].forEach(write));
    else for (const file of touched) await tool(id, file, () => write(file));
  }

  function compare(top: string, works: readonly Work[]): void {
    const there = Object.keys(allFiles(top)).sort();
    const files = filesOf(works);
    expect(there, log.join('\n')).toEqual([...files.keys()].sort());
    for (const [file, content] of files)
      if (readFileSync(path.join(top, file), 'utf8') !== content)
        expect(readFileSync(path.join(top, file), 'utf8'), `${file}\n${log.join('\n')}`).toBe(content);
  }

  for (let round = 0; round < count; round += 1) {
    for (let acts = 1 + Math.floor(random() * 5); acts > 0; acts -= 1) await edit(pick(kinds));
    const kind = pick(kinds.slice(0, 3));
    const id = ids.get(kind) ?? kind;
    const work = works.get(kind) ?? newWork();
    log.push(`quarantine of ${id}`);
    const outcome = await quarantine(id);
    expect(outcome.left, log.join('\n')).toEqual([]);
    const others = [...works].filter(([other]) => other !== kind).map(([, other]) => other);
    compare(repo.top, others);
    if (existsSync(worktreeOf(id))) compare(worktreeOf(id), [work]);
    if (outcome.plan !== null && random() < 0.4) {
      log.push(`give back to ${id}`);
      const given = await tree.giveBack(outcome.plan);
      expect(given.left, log.join('\n')).toEqual([]);
      take(given.lines.map((edit) => ({ child: id, edit })));
      compare(repo.top, [...works.values()]);
    } else {
      // It goes on in its worktree; another child takes its place in the tree.
      born += 1;
      ids.set(kind, `${kind}-${born}`);
      works.set(kind, newWork());
    }
    const { index, head, stash, config } = repo.userState();
    const { index: index0, head: head0, stash: stash0, config: config0 } = user;
    expect({ index, head, stash, config }).toEqual({
      index: index0,
      head: head0,
      stash: stash0,
      config: config0,
    });
  }
  // Here and not in the hook: hundreds of repositories would take longer than a hook may.
  rmSync(repo.home, { recursive: true, force: true });
}

/** mulberry32: small, seeded, good enough to find trouble again. */
function generator(start: number): () => number {
  let state = start >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}
