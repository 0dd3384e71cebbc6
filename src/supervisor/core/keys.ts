import type { ChildKey, GateKey } from './state.js';

/** How conflicts and the ledger of a shared tree name the person; no child's key is like it. */
export const userName = 'you';

/** `batch/child`. */
export function childKey(batch: string, id: string): ChildKey {
  return `${batch}/${id}`;
}

export function parseChildKey(key: ChildKey): { readonly batch: string; readonly id: string } {
  const slash = key.indexOf('/');
  return { batch: key.slice(0, slash), id: key.slice(slash + 1) };
}

/** `credential`, or `credential model`; spaces and percent signs of a credential's name are escaped, so that no two meet. */
export function gateKey(credential: string, model: string | null): GateKey {
  const plain = !credential.includes('%') && !credential.includes(' ');
  const first = plain ? credential : credential.replaceAll('%', '%25').replaceAll(' ', '%20');
  return model === null ? first : `${first} ${model}`;
}

export function parseGateKey(key: GateKey): { readonly credential: string; readonly model: string | null } {
  const space = key.indexOf(' ');
  const first = space < 0 ? key : key.slice(0, space);
  return {
    credential: first.replaceAll('%20', ' ').replaceAll('%25', '%'),
    model: space < 0 ? null : key.slice(space + 1),
  };
}

/** A record's own member: names come from people, and `constructor` is one. */
export function lookUp<T>(record: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}
