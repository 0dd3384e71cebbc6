import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, realpath, symlink, writeFile, access } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { demoTasks } from './plan.js';

const run = promisify(execFile);

export interface DemoWorkspace {
  readonly folder: string;
  readonly manifest: string;
  /** The type check of the workspace; null where no TypeScript was found. */
  readonly check: readonly string[] | null;
}

/**
 * A small TypeScript repository in a temporary folder, with one commit and the demo's manifest in it.
 * `typescript` names folders of a TypeScript package; the first that exists is linked in.
 */
export async function createDemoWorkspace(typescript: readonly string[]): Promise<DemoWorkspace> {
  const parent = await realpath(await mkdtemp(join(tmpdir(), 'swarm-demo-')));
  const folder = join(parent, 'shop');
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
  const compiler = await firstThatExists(typescript);
  if (compiler !== null) {
    await mkdir(join(folder, 'node_modules', '.bin'), { recursive: true });
    await symlink(compiler, join(folder, 'node_modules', 'typescript'), 'junction');
  }
  const check = compiler === null ? null : ['node', 'node_modules/typescript/lib/tsc.js', '--noEmit'];
  const manifest = join(folder, 'demo.swarm.yaml');
  await writeFile(manifest, manifestText(check));
  const git = (...args: string[]): Promise<unknown> =>
    run(
      'git',
      [
        '-c',
        'user.name=Swarm demo',
        '-c',
        'user.email=demo@localhost',
        '-c',
        'init.defaultBranch=main',
        ...args,
      ],
      { cwd: folder },
    );
  await git('init', '--quiet');
  await git('add', '--all');
  await git('commit', '--quiet', '--message', 'A small shop');
  return { folder, manifest, check };
}

async function firstThatExists(folders: readonly string[]): Promise<string | null> {
  for (const folder of folders) {
    const found = await access(join(folder, 'lib', 'tsc.js')).then(
      () => true,
      () => false,
    );
    if (found) return realpath(folder);
  }
  return null;
}

function manifestText(check: readonly string[] | null): string {
  const lines = ['version: 1', 'name: Small shop', 'executor: demo', 'maxConcurrent: 3'];
  if (check !== null) lines.push(`check: ${JSON.stringify(check)}`);
  lines.push('tasks:');
  for (const { id, task } of demoTasks()) lines.push(`  - id: ${id}`, `    prompt: ${task}`);
  return lines.join('\n') + '\n';
}

const files: Readonly<Record<string, string>> = {
  '.gitignore': 'node_modules/\nnode_modules\n',
  'README.md':
    '# A small shop\n\nMade for the demo of Swarm Panel. It is in a temporary folder and can be removed.\n',
  'package.json':
    JSON.stringify(
      { name: 'shop', private: true, type: 'module', scripts: { check: 'tsc --noEmit' } },
      null,
      2,
    ) + '\n',
  'tsconfig.json':
    JSON.stringify(
      {
        compilerOptions: {
          target: 'ES2022',
          module: 'NodeNext',
          strict: true,
          types: [],
          lib: ['ES2022', 'DOM'],
        },
        include: ['src'],
      },
      null,
      2,
    ) + '\n',
  'src/cart.ts': `export interface Item {
  readonly name: string;
  readonly cents: number;
  readonly count: number;
}

export function total(items: readonly Item[]): number {
  return items.reduce((sum, item) => sum + item.cents * item.count, 0);
}
`,
  'src/format.ts': `export function money(cents: number): string {
  return (cents / 100).toFixed(2) + ' EUR';
}
`,
  'src/user.ts': `export interface User {
  readonly name: string;
}

export function greet(user: User): string {
  return 'Hello, ' + user.name;
}
`,
  'src/index.ts': `import { total } from './cart.js';
import { money } from './format.js';
import { greet } from './user.js';

console.log(greet({ name: 'Ada' }));
console.log(money(total([{ name: 'tea', cents: 450, count: 2 }])));
`,
};
