import type * as vscode from 'vscode';

/** The editor's own object, passed in: everything but extension.ts compiles and runs without it. */
export type Vscode = typeof vscode;

/** `vscode.l10n.t`: English text with `{0}` places. */
export type Translate = (message: string, ...args: (string | number)[]) => string;
