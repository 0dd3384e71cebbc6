import { spawn, type ChildProcess } from 'node:child_process';
import fs from 'node:fs/promises';
import path from 'node:path';
import type { Readable } from 'node:stream';
import type { StartOutcome, StartRequest } from '../../ports.js';
import { errorCode, faultPoint, messageOf } from '../fsCalls.js';
import { findAttempt, readClaim } from './attemptFiles.js';
import { resolveProgram } from './resolve.js';
import { runnerCodes, runnerScript } from './runnerScript.js';
import { windowsRunner } from './windowsRunner.js';

/** A runner that has not made its claim by then is stuck; the attempt counts as not started. */
const claimWithin = 15_000;

/** Starts an attempt's process, detached, at most once for its folder. */
export async function startAttempt(request: StartRequest): Promise<StartOutcome> {
  if (readClaim(request.folder) !== 'none')
    return { kind: 'startedBefore', found: await findAttempt(request.folder) };
  const fault = await examine(request);
  if (fault !== null) return { kind: 'failed', message: fault, disk: false };
  let child: ChildProcess;
  try {
    faultPoint('spawn', request.file);
    child = await spawnRunner(request);
  } catch (error) {
    return {
      kind: 'failed',
      message: messageOf(error),
      disk: ['ENOSPC', 'EDQUOT', 'EIO'].includes(errorCode(error)),
    };
  }
  const outcome = await firstWord(child);
  child.unref();
  if (outcome === 'claimed') {
    const claim = readClaim(request.folder);
    return typeof claim === 'string'
      ? { kind: 'failed', message: 'The attempt has no readable claim.', disk: false }
      : { kind: 'started', process: claim };
  }
  return explain(request, outcome);
}

/** What a shell would only say in its own words, after the start. */
async function examine(request: StartRequest): Promise<string | null> {
  const cwd = await fs.stat(request.cwd).catch(() => null);
  if (cwd === null || !cwd.isDirectory()) return `The folder ${request.cwd} does not exist.`;
  const program = await resolveProgram(request.file, undefined, request.cwd);
  return program.ok ? null : program.message;
}

async function spawnRunner(request: StartRequest): Promise<ChildProcess> {
  const env = { ...request.env, SWARM_NONCE: request.nonce };
  const { folder, file, args, cwd } = request;
  if (process.platform === 'win32') return windowsRunner(request, env);
  return spawn(
    '/bin/sh',
    [
      '-c',
      runnerScript,
      'swarm-runner',
      folder,
      request.stdin ?? '/dev/null',
      await movePath(),
      file,
      ...args,
    ],
    { cwd, env, detached: true, stdio: ['ignore', 'ignore', 'ignore', 'pipe'] },
  );
}

type FirstWord = 'claimed' | { readonly exit: number | null } | { readonly error: Error } | 'late';

/** The runner says when it has claimed, or ends with a code that says why not. */
function firstWord(child: ChildProcess): Promise<FirstWord> {
  return new Promise((resolve) => {
    const pipe = child.stdio[3] as Readable | null | undefined;
    let said = false;
    const timer = setTimeout(() => finish('late'), claimWithin);
    const finish = (word: FirstWord): void => {
      clearTimeout(timer);
      resolve(word);
    };
    pipe?.on('data', () => {
      said = true;
      finish('claimed');
    });
    pipe?.on('error', () => undefined);
    child.once('message', () => {
      said = true;
      finish('claimed');
    });
    child.once('error', (error) => finish({ error }));
    // By then the pipe has been read to its end.
    child.once('close', (code) => finish(said ? 'claimed' : { exit: code }));
  });
}

async function explain(request: StartRequest, word: Exclude<FirstWord, 'claimed'>): Promise<StartOutcome> {
  if (word === 'late')
    return { kind: 'failed', message: `${request.file} could not be started in time.`, disk: false };
  if ('error' in word) return { kind: 'failed', message: word.error.message, disk: false };
  switch (word.exit) {
    case runnerCodes.claimedBefore:
      return { kind: 'startedBefore', found: await findAttempt(request.folder) };
    case runnerCodes.noInput:
      await forget(request.folder);
      return { kind: 'failed', message: `The file ${request.stdin ?? ''} cannot be read.`, disk: false };
    case runnerCodes.notWritable:
      await forget(request.folder);
      return { kind: 'failed', message: `${request.folder} cannot be written.`, disk: true };
    default:
      return { kind: 'failed', message: `The start ended with code ${word.exit ?? 'none'}.`, disk: false };
  }
}

/** Nothing was started: the attempt may be started again. */
async function forget(folder: string): Promise<void> {
  await fs.unlink(path.join(folder, 'claim')).catch(() => undefined);
}

let move: string | null = null;

/** Absolute path of `mv`, for the agent's PATH may be anything. */
async function movePath(): Promise<string> {
  if (move !== null) return move;
  const folders = [process.env['PATH'] ?? '', '/bin', '/usr/bin'].join(path.delimiter);
  const found = await resolveProgram('mv', folders, '/');
  if (!found.ok) throw new Error(found.message);
  move = found.file;
  return move;
}
