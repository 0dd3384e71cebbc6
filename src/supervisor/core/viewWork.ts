import type { ApplyView, QuarantineView } from '../../protocol/view.js';
import type { Child } from './state.js';
import { iso } from './viewFacts.js';
import { refusalOf } from './work.js';

/** What was taken out of a shared tree when the child stopped. */
export function quarantineOf(child: Child): QuarantineView | null {
  const { quarantine } = child;
  if (quarantine === null) return null;
  return {
    moved: quarantine.moved.length,
    left: quarantine.left.length,
    checked: quarantine.checked,
    ...(quarantine.errors === null ? {} : { errors: quarantine.errors }),
    files: quarantine.moved,
    leftWith: [...new Set(quarantine.left.map((each) => each.who))],
    ...(quarantine.left.length === 0 ? {} : { leftFiles: quarantine.left }),
  };
}

/** How far its work has come into the user's tree, or would. */
export function applyOf(child: Child): ApplyView | null {
  const { applied } = child;
  const done = child.phase.name === 'succeeded';
  switch (applied.state) {
    case 'none':
      return done ? { state: 'ready', with: [], ...refusalOf(applied) } : null;
    case 'forecast':
      if (!applied.clean) return { state: 'forecastConflict', with: applied.with, ...refusalOf(applied) };
      return { state: done ? 'ready' : 'forecastClean', with: [], ...refusalOf(applied) };
    case 'applying':
      return { state: 'applying', with: [] };
    case 'applied':
      return { state: 'applied', with: [], at: iso(applied.at) };
    case 'conflict':
      return { state: 'conflict', with: applied.with };
    case 'red':
      return { state: 'red', with: [] };
    default:
      return applied satisfies never;
  }
}

/** What the agent has told of, or what its snapshot holds where it told of less: a program may tell nothing. */
export function filesWritten(child: Child): number {
  return Math.max(child.report.written, child.snapshot?.files ?? 0);
}
