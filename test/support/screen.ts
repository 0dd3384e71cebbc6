import type { Screen } from '../../src/cli/output/reporter.js';
import { createScreen } from '../../src/cli/output/screen.js';

/** A screen whose text goes to `write`; `gone` says that its reader has left. */
export function screenTo(
  write: (text: string) => void,
  options: { readonly isTTY?: boolean; readonly columns?: number; readonly gone?: AbortSignal } = {},
): Screen {
  const { isTTY = false, columns = 80, gone = new AbortController().signal } = options;
  return createScreen({ isTTY, columns, write }, { gone, watch: () => undefined });
}
