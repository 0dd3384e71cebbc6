import { closeSync, fsync, openSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';

const syncOpen = promisify(fsync);

/** Syncs folders, so that names made in them survive a power cut. Folders that are not there are passed over. */
export async function syncFolders(folders: Iterable<string>): Promise<void> {
  await Promise.all([...new Set(folders)].map(syncFolder));
}

/** The folders from a ref's file up to `refs`. */
export function refFolders(commonDir: string, ref: string): readonly string[] {
  const folders: string[] = [];
  for (
    let folder = path.posix.dirname(ref);
    folder !== '.' && folder !== '';
    folder = path.posix.dirname(folder)
  )
    folders.push(path.join(commonDir, ...folder.split('/')));
  return folders;
}

/** The folders that hold these objects while they are loose. */
export function objectFolders(commonDir: string, ids: Iterable<string>): readonly string[] {
  return [...new Set([...ids].map((id) => id.slice(0, 2)))].map((name) =>
    path.join(commonDir, 'objects', name),
  );
}

/** Syncs files' contents. Those that are not there are passed over. */
export async function syncFiles(files: Iterable<string>): Promise<void> {
  // All at once: the disk then pays for one sync and not for each.
  await Promise.all([...files].map((file) => syncOne(file, process.platform === 'win32' ? 'r+' : 'r')));
}

async function syncFolder(folder: string): Promise<void> {
  if (process.platform !== 'win32') await syncOne(folder, 'r');
}

async function syncOne(place: string, flags: 'r' | 'r+'): Promise<void> {
  try {
    // Only the sync takes its time; to wait in line for the rest would take more than the rest itself.
    const file = openSync(place, flags);
    try {
      await syncOpen(file);
    } finally {
      closeSync(file);
    }
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return;
    throw error;
  }
}
