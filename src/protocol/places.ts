/** Where files lie below `.swarm`, with forward slashes on every system; the table is part of the contract. */

export function batchPlace(batch: string): string {
  return `batches/${batch}`;
}

export function childPlace(batch: string, child: string): string {
  return `${batchPlace(batch)}/children/${child}`;
}

export function attemptPlace(batch: string, child: string, attempt: number): string {
  return `${childPlace(batch, child)}/attempts/${attempt}`;
}
