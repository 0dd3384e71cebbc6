import { writeFileSync } from 'node:fs';
import Mocha from 'mocha';

/** Runs the tests of the window and writes what came of them to the file that `SWARM_TEST_RESULTS` names. */
const mocha = new Mocha({ ui: 'bdd', timeout: 400_000, color: false, reporter: 'spec' });
const only = process.env['SWARM_TEST_GREP'];
if (only !== undefined && only !== '') mocha.grep(new RegExp(only));
mocha.suite.emit('pre-require', globalThis, 'bundle', mocha);
await import('./launch.test.js');
await import('./trust.test.js');
const failures: { readonly title: string; readonly message: string }[] = [];
const stats = await new Promise<Mocha.Stats | undefined>((resolve) => {
  const runner = mocha.run(() => resolve(runner.stats));
  runner.on('fail', (test, error: Error) =>
    failures.push({ title: test.fullTitle(), message: error.stack ?? error.message }),
  );
});
const file = process.env['SWARM_TEST_RESULTS'];
if (file !== undefined)
  writeFileSync(file, JSON.stringify({ passes: stats?.passes ?? 0, pending: stats?.pending ?? 0, failures }));
process.exit(failures.length === 0 ? 0 : 1);
