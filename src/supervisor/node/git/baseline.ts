import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Repository } from '../../ports/git.js';
import type { Entry } from '../../ports/sharedTree.js';
import { blobId } from './blobs.js';
import { literalPaths } from './changes.js';
import { splitNul, type GitRunner } from './runner.js';

/** What files held on disk before anybody wrote to them, from the index of that time. */
export interface Baseline {
  /** Entries of the paths that the index has, and bytes that are not in the store yet. */
  entries(
    paths: readonly string[],
  ): Promise<{ readonly entries: ReadonlyMap<string, Entry>; readonly bytes: readonly Buffer[] }>;
}

export async function createBaseline(
  runner: GitRunner,
  repository: Repository,
  environment: Readonly<Record<string, string>>,
): Promise<Baseline> {
  const top = repository.topLevel;
  const plain = !(await convertsFiles(runner, repository));
  return {
    async entries(paths) {
      const entries = new Map<string, Entry>();
      const bytes: Buffer[] = [];
      for (let at = 0; at < paths.length; at += 500) {
        const listed = await runner.run(
          top,
          ['ls-files', '-z', '--stage', '--', ...paths.slice(at, at + 500)],
          {
            environment: { ...environment, ...literalPaths },
          },
        );
        for (const line of splitNul(listed.stdout)) {
          const tab = line.indexOf('\t');
          const [mode = '', id = ''] = line.slice(0, tab).split(' ');
          if (mode !== '160000') entries.set(line.slice(tab + 1), { mode, id });
        }
      }
      const wanted = new Set(paths);
      for (const file of entries.keys()) if (!wanted.has(file)) entries.delete(file);
      if (plain) return { entries, bytes };
      for (const [file, { mode, id }] of entries) {
        if (mode === '120000') continue;
        const args = ['cat-file', '--filters', `--path=${file}`, id];
        const smudged = await runner.run(top, args, { environment, expect: [0, 128] });
        const raw = smudged.exitCode === 0 ? blobId(repository.objectFormat, smudged.stdout) : id;
        if (raw === id) continue;
        bytes.push(smudged.stdout);
        entries.set(file, { mode, id: raw });
      }
      return { entries, bytes };
    },
  };
}

/** Whether git may check files out with other bytes than it stores. */
async function convertsFiles(runner: GitRunner, repository: Repository): Promise<boolean> {
  const { topLevel: top, commonDir } = repository;
  const settings = await runner.run(
    top,
    ['config', '--get-regexp', '^core\\.(autocrlf|eol|attributesfile)$'],
    {
      expect: [0, 1],
    },
  );
  if (/autocrlf true|eol crlf|attributesfile/.test(settings.stdout.toString())) return true;
  const listed = await runner.run(top, ['ls-files', '-z', '--', ':(glob)**/.gitattributes']);
  const files = splitNul(listed.stdout).map((file) => path.join(top, file));
  for (const file of [...files, path.join(commonDir, 'info', 'attributes')]) {
    const text = await readFile(file, 'utf8').catch(() => '');
    if (/\b(?:text|eol|crlf|filter|ident|working-tree-encoding)\b/.test(text)) return true;
  }
  return false;
}
