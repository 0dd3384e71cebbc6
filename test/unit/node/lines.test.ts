import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { LineSplitter, longestLine, type SplitLine } from '../../../src/supervisor/node/processes/lines.js';
import { linuxStartTime, plainStartTime } from '../../../src/supervisor/node/processes/identity.js';
import { resolveProgram } from '../../../src/supervisor/node/processes/resolve.js';
import { temporary } from '../../support/storeFixtures.js';

/** The lines of these bytes, pushed in pieces of a size. */
function split(bytes: Buffer, size: number, from = 0): readonly SplitLine[] {
  const splitter = new LineSplitter(from);
  const lines: SplitLine[] = [];
  const piece = Buffer.alloc(size);
  for (let at = 0; at < bytes.length; at += size) {
    // The same memory each time, as the follower does it.
    const length = bytes.copy(piece, 0, at, at + size);
    lines.push(...splitter.push(piece.subarray(0, length)));
  }
  const rest = splitter.finish();
  return rest === null ? lines : [...lines, rest];
}

describe('bytes to lines', () => {
  it('gives the same lines and offsets however the bytes are cut', () => {
    const bytes = Buffer.from('eins\n\nzwei ä€😀\r\n{"a":"😀😀"}\nlast 😀');
    const whole = split(bytes, 1000, 7);
    expect(whole.map((line) => line.text)).toEqual(['eins', '', 'zwei ä€😀', '{"a":"😀😀"}', 'last 😀']);
    expect(whole.at(-1)?.end).toBe(bytes.length + 7);
    for (let size = 1; size < 20; size++) expect(split(bytes, size, 7)).toEqual(whole);
  });

  it('cuts a long line at a whole character, says so, and goes on after its newline', () => {
    const bytes = Buffer.from(`${'x'.repeat(longestLine - 2)}😀${'y'.repeat(100)}\nnext\n`);
    for (const size of [1000, 65_536, bytes.length]) {
      const [first, second] = split(bytes, size);
      expect(first).toEqual({ text: 'x'.repeat(longestLine - 2), end: bytes.length - 5, cut: true });
      expect(second).toEqual({ text: 'next', end: bytes.length, cut: false });
    }
    expect(split(Buffer.from(`${'x'.repeat(longestLine)}\n`), 777)[0]?.cut).toBe(false);
  });

  it('keeps no more of a line of 100 MB than it passes on', () => {
    const splitter = new LineSplitter(0);
    const piece = Buffer.alloc(65_536, 0x61);
    const before = process.memoryUsage().arrayBuffers;
    for (let sent = 0; sent < 100_000_000; sent += piece.length) splitter.push(piece);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(8_000_000);
    expect(splitter.finish()?.text.length).toBe(longestLine);
  });

  it('bytes that are no text do not throw', () => {
    const bytes = Buffer.from(Array.from({ length: 5000 }, (_, index) => (index * 7919) % 256));
    expect(split(bytes, 13).map((line) => line.end)).toEqual(split(bytes, 4096).map((line) => line.end));
  });
});

describe('who a process is', () => {
  it('is read after the last bracket of its name, and a zombie is nobody', () => {
    const rest = `1 2 3 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 987654 1 2`;
    expect(linuxStartTime(`42 (odd ) name (x)) S ${rest}`, 'abcdefgh-1')).toBe('987654@abcdefgh');
    expect(linuxStartTime(`42 (sh) Z ${rest}`, 'b')).toBeNull();
    expect(linuxStartTime('', 'b')).toBeNull();
    expect(linuxStartTime(null, 'b')).toBeNull();
  });

  it('is the start as ps tells it elsewhere', () => {
    expect(plainStartTime('Ss   Mon Nov 30 03:13:01 2026\n')).toBe('Mon Nov 30 03:13:01 2026');
    expect(plainStartTime('Z+ Mon Nov 30 03:13:01 2026')).toBeNull();
    expect(plainStartTime('')).toBeNull();
  });
});

describe('a program', () => {
  const folder = temporary();
  fs.mkdirSync(path.join(folder, 'bin', 'folder'), { recursive: true });
  fs.writeFileSync(path.join(folder, 'bin', 'tool'), '#!/bin/sh\n', { mode: 0o755 });
  fs.writeFileSync(path.join(folder, 'bin', 'text'), 'hello', { mode: 0o644 });
  const bin = path.join(folder, 'bin');

  it.each([
    ['tool', bin, { ok: true, file: path.join(bin, 'tool') }],
    ['tool', `/nowhere:${bin}`, { ok: true, file: path.join(bin, 'tool') }],
    ['./bin/tool', '', { ok: true, file: path.join(bin, 'tool') }],
    [path.join(bin, 'tool'), undefined, { ok: true, file: path.join(bin, 'tool') }],
    ['tool', `bin::.`, { ok: false, message: 'tool was not found on PATH.' }],
    ['nothing', bin, { ok: false, message: 'nothing was not found on PATH.' }],
    ['nothing', undefined, { ok: false, message: 'nothing was not found on PATH.' }],
    ['text', bin, { ok: false, message: `${path.join(bin, 'text')} cannot be executed.` }],
    ['folder', bin, { ok: false, message: `${path.join(bin, 'folder')} is a folder.` }],
    ['./none', bin, { ok: false, message: `${path.join(folder, 'none')} does not exist.` }],
    ['', bin, { ok: false, message: 'The program has no name.' }],
  ])('%j with the PATH %j is found, or it is said why not', async (program, pathVariable, expected) => {
    expect(await resolveProgram(program, pathVariable, folder)).toMatchObject(expected);
  });
});
