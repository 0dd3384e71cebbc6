import { writeFileSync } from 'node:fs';
import { format } from 'node:util';
import Mocha from 'mocha';

/**
 * What VS Code calls in its extension host. What came of it is written to the file that `SWARM_TEST_RESULTS` names:
 * the editor's own exit code is 0 even where the host was killed.
 */
export async function run(): Promise<void> {
  const mocha = new Mocha({ ui: 'bdd', timeout: 240_000, color: false, reporter: 'spec' });
  // The window prints much of its own: the tests' lines are marked.
  Mocha.reporters.Base.consoleLog = (...args: unknown[]) => console.log(`[test] ${format(...args)}`);
  const only = process.env['SWARM_TEST_GREP'];
  if (only !== undefined && only !== '') mocha.grep(new RegExp(only));
  mocha.suite.emit('pre-require', globalThis, 'bundle', mocha);
  if (process.env['SWARM_TEST_SUITE'] === 'folders') await import('./folders.test.js');
  else {
    await import('./extension.test.js');
    await import('./batch.test.js');
  }
  const unhandled: string[] = [];
  const note = (error: unknown): void => {
    const text = String(error instanceof Error ? error.stack : error);
    // The editor's own extensions share this process; what they forget to handle is not ours.
    if (!text.includes('/lib/vscode/extensions/')) unhandled.push(text);
  };
  process.on('unhandledRejection', note);
  const failures: { readonly title: string; readonly message: string }[] = [];
  const stats = await new Promise<Mocha.Stats | undefined>((resolve) => {
    const runner = mocha.run(() => resolve(runner.stats));
    runner.on('fail', (test, error: Error) =>
      failures.push({ title: test.fullTitle(), message: error.stack ?? error.message }),
    );
  });
  process.off('unhandledRejection', note);
  for (const message of unhandled) failures.push({ title: 'unhandled rejection', message });
  const file = process.env['SWARM_TEST_RESULTS'];
  if (file !== undefined)
    writeFileSync(
      file,
      JSON.stringify({ passes: stats?.passes ?? 0, pending: stats?.pending ?? 0, failures }),
    );
  if (failures.length > 0) throw new Error(`${failures.length} failed`);
}
