/** Makes the VSIX and checks what is in it; answers its path. */
export function packageExtension(out: string): Promise<string>;
