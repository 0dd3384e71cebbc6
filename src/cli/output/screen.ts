import { plainText } from '../../protocol/plainText.js';
import { cleanText } from './clean.js';
import type { Reader } from './reader.js';
import type { Screen } from './reporter.js';

export interface Out {
  readonly isTTY: boolean;
  readonly columns: number;
  write(text: string): unknown;
}

export function createScreen(out: Out, reader: Reader): Screen {
  return {
    isTTY: out.isTTY,
    reader,
    get columns() {
      return out.columns || 100;
    },
    write: (text) => void out.write(plainText(text)),
    draw: (text) => void out.write(cleanText(text)),
    raw: (text) => void out.write(text),
  };
}
