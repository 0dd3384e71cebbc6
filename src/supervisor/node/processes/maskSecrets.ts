import fs from 'node:fs';
import { secretSpans } from '../../verdict/redact.js';

/** What one line may take in memory to be looked through once more. */
const longest = 4 * 1024 * 1024;

/**
 * Keeps the secrets that an agent prints from staying in its log: their bytes are overwritten, each by a star, as soon
 * as their line has been read. The log keeps its length, so that whoever appends to it and every offset stay right.
 */
export class SecretMask {
  private inKey = false;

  constructor(private readonly file: string) {}

  /** `text`: the line as read; `from` and `to`: where its bytes stand in the file. */
  line(text: string, from: number, to: number): void {
    const begins = text.includes('-----BEGIN ') && text.includes('PRIVATE KEY');
    const whole = this.inKey;
    if (begins || this.inKey) this.inKey = !text.includes('-----END ');
    if (!whole && secretSpans(text).length === 0) return;
    try {
      const fd = fs.openSync(this.file, fs.constants.O_RDWR | (fs.constants.O_NOFOLLOW ?? 0));
      try {
        mask(fd, from, Math.min(to, from + longest), whole);
      } finally {
        fs.closeSync(fd);
      }
    } catch {
      // It cannot be written: then it cannot be mended either, and reading must go on.
    }
  }
}

function mask(fd: number, from: number, to: number, whole: boolean): void {
  const bytes = Buffer.alloc(to - from);
  const count = fs.readSync(fd, bytes, 0, bytes.length, from);
  // One character a byte, so that the spans are offsets; the secrets themselves are ASCII.
  const text = bytes.subarray(0, count).toString('latin1');
  const end = text.replace(/[\r\n]+$/, '').length;
  for (const [start, stop] of whole ? [[0, end] as const] : secretSpans(text)) {
    // A backslash at the end belongs to the quote that follows it.
    const last = text.slice(start, Math.min(stop, end)).replace(/\\+$/, '').length;
    if (last > 0) fs.writeSync(fd, Buffer.alloc(last, '*'), 0, last, from + start);
  }
}
