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
  /** Prints text without any code that steers a terminal, but our own colours. */
  write(text: string): void;
  /** Prints it as it is, for a program that reads it. */
  raw(text: string): void;
}
