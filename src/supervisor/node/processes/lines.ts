/** Bytes of a line that are kept; what is beyond is passed over. */
export const longestLine = 256 * 1024;

export interface SplitLine {
  readonly text: string;
  /** Offset of the byte after the line and its newline. */
  readonly end: number;
  readonly cut: boolean;
}

/**
 * Bytes to lines. Works on bytes, so that a character that is parted between two chunks stays whole, and holds at most
 * one line's worth of them, however long the line is.
 */
export class LineSplitter {
  private parts: Buffer[] = [];
  private kept = 0;
  private cut = false;

  /** `offset`: of the first byte that will be pushed. */
  constructor(private offset: number) {}

  /** Offset of the next byte to push. */
  get position(): number {
    return this.offset;
  }

  /** The lines that these bytes complete. The bytes may be overwritten afterwards. */
  push(chunk: Buffer): readonly SplitLine[] {
    const lines: SplitLine[] = [];
    for (let start = 0; start < chunk.length;) {
      const newline = chunk.indexOf(10, start);
      const isWhole = newline !== -1 && newline - start <= longestLine && this.kept === 0 && !this.cut;
      if (isWhole) {
        // Nearly every line: it is read where it stands, without a copy.
        const end = newline > start && chunk[newline - 1] === 13 ? newline - 1 : newline;
        const text = chunk.toString('utf8', start, end);
        lines.push({ text, end: this.offset + newline + 1, cut: false });
      } else {
        this.keep(chunk.subarray(start, newline === -1 ? chunk.length : newline));
        if (newline === -1) break;
        lines.push(this.take(this.offset + newline + 1));
      }
      start = newline + 1;
    }
    this.offset += chunk.length;
    return lines;
  }

  /** What is left at the end of the stream, without a newline. */
  finish(): SplitLine | null {
    return this.kept === 0 && !this.cut ? null : this.take(this.offset);
  }

  private keep(bytes: Buffer): void {
    const room = longestLine - this.kept;
    if (bytes.length > room) this.cut = true;
    const part = bytes.subarray(0, room);
    if (part.length === 0) return;
    this.parts.push(Buffer.from(part));
    this.kept += part.length;
  }

  private take(end: number): SplitLine {
    let bytes = this.parts.length === 1 ? (this.parts[0] ?? Buffer.alloc(0)) : Buffer.concat(this.parts);
    if (this.cut) bytes = bytes.subarray(0, wholeCharacters(bytes));
    if (bytes.at(-1) === 13) bytes = bytes.subarray(0, -1);
    const line = { text: bytes.toString('utf8'), end, cut: this.cut };
    this.parts = [];
    this.kept = 0;
    this.cut = false;
    return line;
  }
}

/** Length without a character at the end that is not all there. */
function wholeCharacters(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return needed > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}
