export function makeWorkspace(name?: string): string;
export function testSettings(): Readonly<Record<string, unknown>>;
