import type * as vscode from 'vscode';
import type { Git, Repository } from '../../supervisor/ports.js';
import type { Disposable } from '../lifetime.js';
import type { Vscode } from '../vscodeTypes.js';

/** Files as they are in a commit, read-only; the address says which commit of which repository. */
export const gitScheme = 'swarm-git';

export interface GitAddress {
  readonly topLevel: string;
  readonly commit: string;
  readonly path: string;
}

export function gitUri(vscode: Vscode, { topLevel, commit, path }: GitAddress): vscode.Uri {
  return vscode.Uri.from({
    scheme: gitScheme,
    path: `/${path}`,
    query: JSON.stringify({ topLevel, commit, path }),
  });
}

export function createGitDocuments(
  vscode: Vscode,
  read: (address: GitAddress) => Promise<string>,
): Disposable {
  return vscode.workspace.registerTextDocumentContentProvider(gitScheme, {
    provideTextDocumentContent: (uri) => read(JSON.parse(uri.query) as GitAddress),
  });
}

/** Text of a file in a commit; a file that is no text is told in a sentence. */
export async function textAt(
  git: Git,
  repository: Repository,
  address: GitAddress,
  binary: string,
): Promise<string> {
  const bytes = await git.fileAt(repository, address.commit, address.path);
  if (bytes === null) return '';
  return bytes.includes(0) ? binary : new TextDecoder().decode(bytes);
}
