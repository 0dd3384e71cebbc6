import type { View } from '../../protocol/view.js';
import type { Reader } from './reader.js';

/** Draws what happens to the followed batches. */
export interface Reporter {
  view(view: View): void;
  message(text: string): void;
  end(code: number): void;
}

/** What is printed to: a terminal, a pipe or a file. */
export interface Screen {
  readonly isTTY: boolean;
  readonly columns: number;
  readonly reader: Reader;
  /** Prints text without any code that a terminal would follow. */
  write(text: string): void;
  /** The same for a table of ours, whose colours pass: what others wrote in it has lost its own. */
  draw(text: string): void;
  /** Prints it as it is, for a program that reads it. */
  raw(text: string): void;
}
