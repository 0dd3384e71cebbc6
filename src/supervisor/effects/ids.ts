/** A version 4 UUID from random bytes. */
export function randomUuid(random: (bytes: number) => string): string {
  const hex = random(16).padEnd(32, '0');
  const variant = ((Number.parseInt(hex[16] ?? '0', 16) & 3) | 8).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
