import type { View } from '../../protocol/view.js';

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
