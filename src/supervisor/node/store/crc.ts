import zlib from 'node:zlib';

const table = Int32Array.from({ length: 256 }, (_, index) => {
  let value = index;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  return value;
});

/** CRC-32 as in zip and PNG, by table; older Node versions have none of their own. */
export function plainCrc32(bytes: Uint8Array): number {
  let value = -1;
  for (const byte of bytes) value = (table[(value ^ byte) & 0xff] ?? 0) ^ (value >>> 8);
  return (value ^ -1) >>> 0;
}

/** CRC-32 of bytes, or of a text as UTF-8. */
export const crc32: (data: Uint8Array | string) => number =
  typeof zlib.crc32 === 'function'
    ? (data) => zlib.crc32(data)
    : (data) => plainCrc32(typeof data === 'string' ? Buffer.from(data) : data);
