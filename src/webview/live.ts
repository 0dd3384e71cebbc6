import type { ChildView, View } from '../protocol/view.js';
import { reasonInRow } from './reasons.js';
import { t } from './texts.js';
import { epoch, instant, type Reader } from './times.js';

/** What was already said, and what waits to be said together. */
export interface Said {
  readonly sentences: ReadonlySet<string>;
  /** Finished children not yet said, while many run. */
  readonly done: number;
  readonly doneSaidAt: number;
}

export const nothingSaid: Said = { sentences: new Set(), done: 0, doneSaidAt: 0 };

/** While more than this many run, single finished children are only counted. */
const manyRun = 8;
const doneEvery = 30_000;

/**
 * What a screen reader should hear of the step from one view to the next. Nothing twice for the same episode,
 * no ticks, no progress.
 */
export function announce(
  before: View,
  after: View,
  said: Said,
  now: number,
  reader: Reader,
): { readonly sentences: readonly string[]; readonly said: Said } {
  const keyed = [
    ...gateNews(before, after, now, reader),
    ...childNews(before, after),
    ...batchNews(before, after),
  ];
  const { sentences: doneSentences, done, doneSaidAt } = doneNews(before, after, said, now);
  const fresh = keyed.filter(({ key }) => !said.sentences.has(key));
  return {
    sentences: [...fresh.map(({ text }) => text), ...doneSentences],
    said: { sentences: new Set([...said.sentences, ...fresh.map(({ key }) => key)]), done, doneSaidAt },
  };
}

interface News {
  readonly key: string;
  readonly text: string;
}

function gateNews(before: View, after: View, now: number, reader: Reader): readonly News[] {
  return after.gates.flatMap((gate): News[] => {
    const old = before.gates.find((g) => g.credential === gate.credential && g.model === gate.model);
    if (old?.state === gate.state && old.episode === gate.episode) return [];
    const key = `gate:${gate.credential}:${gate.model ?? ''}:${gate.episode}:${gate.state}`;
    const until = epoch(gate.until);
    switch (gate.state) {
      case 'closed': {
        const stated = until !== null && !gate.needsUser;
        const base = stated ? 'live.closed' : 'live.closedPlain';
        const args = stated ? [gate.credential, instant(until, now, reader)] : [gate.credential];
        return [
          { key, text: gate.waiting === 1 ? t(`${base}.one`, ...args) : t(base, ...args, gate.waiting) },
        ];
      }
      case 'probing':
        return [{ key, text: t('live.probing', gate.credential, gate.canary ?? '') }];
      case 'open':
        return old === undefined
          ? []
          : [{ key, text: t('live.open', gate.credential, gate.resumed?.of ?? old.waiting) }];
      default:
        return gate.state satisfies never;
    }
  });
}

function childNews(before: View, after: View): readonly News[] {
  return pairs(before, after).flatMap(({ batch, old, child }): News[] => {
    if (old?.display === child.display) return [];
    const key = `child:${batch}/${child.id}:${child.attempts}:${child.display}`;
    if (child.display === 'needsYou')
      return [{ key, text: t('live.needsYou', child.title, reasonInRow(child)) }];
    if (child.display === 'failed') return [{ key, text: t('live.failed', child.title, reasonInRow(child)) }];
    return [];
  });
}

function batchNews(before: View, after: View): readonly News[] {
  return after.batches.flatMap((batch): News[] => {
    const old = before.batches.find((b) => b.id === batch.id);
    const ended = batch.status === 'succeeded' || batch.status === 'failed';
    if (!old || !ended || old.status === batch.status) return [];
    const done = batch.children.filter((child) => child.status === 'done').length;
    const failed = batch.children.filter((child) => child.status === 'failed').length;
    return [{ key: `batch:${batch.id}`, text: t('live.batch', batch.name, done, failed) }];
  });
}

function doneNews(
  before: View,
  after: View,
  said: Said,
  now: number,
): { readonly sentences: readonly string[]; readonly done: number; readonly doneSaidAt: number } {
  const finished = pairs(before, after).filter(
    ({ old, child }) => old !== undefined && old.status !== 'done' && child.status === 'done',
  );
  const running = after.batches
    .flatMap((batch) => batch.children)
    .filter((child) => child.status === 'running');
  const waiting = said.done + finished.length;
  if (running.length <= manyRun && said.done === 0) {
    const sentences = finished.map(({ batch, child }) => {
      const all = after.batches.find((b) => b.id === batch)?.children ?? [];
      return t('live.done', child.title, all.filter((c) => c.status === 'done').length, all.length);
    });
    return { sentences, done: 0, doneSaidAt: said.doneSaidAt };
  }
  if (waiting > 0 && now - said.doneSaidAt >= doneEvery)
    return { sentences: [t('live.doneMany', waiting)], done: 0, doneSaidAt: now };
  return { sentences: [], done: waiting, doneSaidAt: said.doneSaidAt };
}

function pairs(
  before: View,
  after: View,
): readonly { readonly batch: string; readonly old: ChildView | undefined; readonly child: ChildView }[] {
  const old = new Map(
    before.batches.flatMap((batch) =>
      batch.children.map((child) => [`${batch.id}/${child.id}`, child] as const),
    ),
  );
  return after.batches.flatMap((batch) =>
    batch.children.map((child) => ({ batch: batch.id, old: old.get(`${batch.id}/${child.id}`), child })),
  );
}
