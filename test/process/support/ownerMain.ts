import { createWorldOptions } from './worldOptions.js';
import { openSupervisor } from '../../../src/supervisor/supervisor.js';
import { readFileSync } from 'node:fs';

/**
 * An owner in a process of its own, to be killed: launches the manifest that is named, if one is, and follows until
 * every child has ended.
 */
const [folder = '', root = '', memory = '', manifest] = process.argv.slice(2);
const opened = await openSupervisor(
  createWorldOptions({
    folder,
    root,
    memory,
    settings: {},
    env: {},
    log: (line) => process.stderr.write(`${line}\n`),
  }),
);
if (!opened.ok) throw new Error(`${opened.message} ${opened.fix}`);
const { supervisor } = opened;
if (manifest !== undefined) {
  const answer = await supervisor.request({
    type: 'launch',
    manifest: { kind: 'json', text: readFileSync(manifest, 'utf8'), name: 'story.json' },
    consent: true,
  });
  if (!answer.ok) throw new Error(JSON.stringify(answer.errors));
  process.stdout.write(`launched ${answer.batch ?? ''}\n`);
}
await new Promise<void>((resolve) => {
  supervisor.onView((view) => {
    const children = view.batches.flatMap((batch) => batch.children);
    process.stdout.write(`${children.map((child) => `${child.id}:${child.status}`).join(' ')}\n`);
    if (children.length > 0 && children.every((child) => child.status === 'done')) resolve();
  });
});
await supervisor.close({ stopAgents: false });
process.stdout.write('end\n');
