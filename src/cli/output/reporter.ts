import type { View } from '../../protocol/view.js';
import { jsonReporter } from './json.js';
import { linesReporter } from './lines.js';
import { tableReporter } from './table.js';

/** Draws what happens to the followed batches. */
export interface Reporter {
  view(view: View): void;
  message(text: string): void;
  end(code: number): void;
}

/** What a reporter writes to. */
export interface Screen {
  readonly isTTY: boolean;
  readonly columns: number;
  write(text: string): void;
}

/** A live table on a terminal, plain lines otherwise, one object a line with `json`. `first` is the batch that was launched. */
export function createReporter(
  screen: Screen,
  options: { readonly json: boolean; readonly ids: ReadonlySet<string> | null },
): Reporter {
  if (options.json) return jsonReporter(screen, options.ids);
  return screen.isTTY ? tableReporter(screen, options.ids) : linesReporter(screen, options.ids);
}
