import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { isAbsolute, join, resolve } from 'node:path';
import { check } from './commands/check.js';
import { classify } from './commands/classify.js';
import { clean } from './commands/clean.js';
import { demo } from './commands/demo.js';
import { doctor } from './commands/doctor.js';
import { checkpoint, diff } from './commands/look.js';
import { run } from './commands/run.js';
import { settle } from './commands/settle.js';
import { status } from './commands/status.js';
import { supervise } from './commands/supervise.js';
import { wish, type Wish } from './commands/wishes.js';
import { CommandEnd, packageVersion } from './environment.js';
import { exitCodes } from './exitCodes.js';
import { cleanJson, complain, tellAside } from './output/clean.js';
import { isGone, readerOf } from './output/reader.js';
import { createScreen } from './output/screen.js';

const screen = createScreen(process.stdout, readerOf(process.stdout));

/** Options of a command that only prints. */
interface Shown {
  readonly json?: boolean;
}

interface Globals {
  readonly C?: string;
  readonly verbose?: boolean;
}

/** As of git: each is relative to the one before it. */
function folderOption(): Option {
  return new Option('-C <folder>', 'work as if started in this folder').argParser(
    (folder: string, before: string = '.') => (isAbsolute(folder) ? folder : join(before, folder)),
  );
}

function verboseOption(): Option {
  return new Option('--verbose', 'say on stderr what the supervisor does');
}

const program = new Command('swarm')
  .description(
    'Run many coding agents side by side in one repository. A limit is a pause, and no work is lost.',
  )
  .version(await packageVersion())
  .addOption(folderOption())
  .addOption(verboseOption())
  .configureOutput({ writeOut: (text) => screen.write(text), writeErr: tellAside })
  .exitOverride()
  .enablePositionalOptions()
  .showHelpAfterError('(swarm --help lists the commands)');

let code: number = exitCodes.done;

/** What every command starts from. */
let common: { readonly folder: string; readonly verbose: boolean };

program.hook('preAction', (_, command) => {
  const before = program.opts<Globals>();
  const after = command.opts<Globals>();
  common = {
    folder: resolve(before.C ?? '.', after.C ?? '.'),
    verbose: before.verbose ?? after.verbose ?? false,
  };
});

function positive(text: string): number {
  const n = Number(text);
  if (!Number.isInteger(n) || n < 1 || n > 1000)
    throw new InvalidArgumentError('It must be a whole number from 1 to 1000.');
  return n;
}

const json = new Option('--json', 'print JSON');
const noWait = new Option(
  '--no-wait',
  'end with 75 as soon as something is paused and nothing runs or can start',
);

program
  .command('run <manifest>')
  .description('launch a batch from a YAML, JSON or Markdown file and follow it to its end')
  .option('--executor <name>', 'the executor of all tasks, or a chain: claude,codex')
  .option('--max-concurrent <n>', 'children at a time', positive)
  .addOption(new Option('--isolation <kind>', 'where children work').choices(['worktree', 'shared']))
  .addOption(json)
  .addOption(noWait)
  .action(
    async (
      manifest: string,
      options: {
        executor?: string;
        maxConcurrent?: number;
        isolation?: 'worktree' | 'shared';
        json?: boolean;
        wait: boolean;
      },
    ) => {
      code = await run(manifest, { ...common, ...options, json: options.json ?? false }, screen);
    },
  );

program
  .command('supervise')
  .description('take over all unfinished batches, without a window or after a crash')
  .addOption(json)
  .addOption(noWait)
  .addOption(new Option('--after <pid>', 'for a window that closes').argParser(Number).hideHelp())
  .addOption(new Option('--max-concurrent <n>', 'children at a time').argParser(positive))
  .action(async (options: { json?: boolean; wait: boolean; after?: number; maxConcurrent?: number }) => {
    code = await supervise(
      {
        ...common,
        json: options.json ?? false,
        wait: options.wait,
        after: options.after ?? null,
        maxConcurrent: options.maxConcurrent,
      },
      screen,
    );
  });

program
  .command('status')
  .description('print the state of all batches; writes nothing')
  .addOption(json)
  .option('--watch', 'print it again whenever it changes')
  .action(async (options: { json?: boolean; watch?: boolean }) => {
    code = await status(
      common.folder,
      { json: options.json ?? false, watch: options.watch ?? false },
      screen,
    );
  });

const wishes: Readonly<Record<Wish, string>> = {
  resume: 'go on with paused children now; at a closed limit one is tried first',
  pause: 'pause children, their work kept',
  stop: 'stop children, their work kept',
  retry: 'start failed or canceled children again, from their checkpoint',
  apply: 'bring finished work into your tree, checked first',
};
for (const [kind, description] of Object.entries(wishes) as [Wish, string][]) {
  program
    .command(`${kind} [child]`)
    .description(description)
    .option('--all', 'all children')
    .addOption(json)
    .addOption(noWait)
    .action(async (name: string | undefined, options: { all?: boolean; json?: boolean; wait: boolean }) => {
      code = await wish(
        kind,
        name,
        { ...common, json: options.json ?? false, wait: options.wait, all: options.all ?? false },
        screen,
      );
    });
}

program
  .command('settle <child>')
  .description('decide about files that a quarantine left because several had written them')
  .option('--move', 'move them to its worktree as they are')
  .option('--keep', 'leave them in your tree as they are')
  .addOption(json)
  .action(async (name: string, options: { move?: boolean; keep?: boolean; json?: boolean }) => {
    const { move = false, keep = false } = options;
    code = await settle(name, { ...common, json: options.json ?? false, move, keep }, screen);
  });

program
  .command('check [command...]')
  .description('run the check on your tree; its exit code and output pass through')
  .passThroughOptions()
  .action(async (command: string[]) => {
    code = await check(common.folder, command);
  });

program
  .command('diff [child]')
  .description('print what a child has changed, up to its newest snapshot')
  .option('--all', 'all children')
  .addOption(json)
  .action(async (name: string | undefined, { all = false, json = false }: Shown & { all?: boolean }) => {
    code = await diff(common.folder, name, { all, json }, screen);
  });

program
  .command('checkpoint <child>')
  .description('print what a child has found out and done')
  .addOption(json)
  .action(async (name: string, { json = false }: Shown) => {
    code = await checkpoint(common.folder, name, { json }, screen);
  });

program
  .command('classify')
  .description('read failure messages, one JSON case a line on stdin, and print a verdict for each')
  .addOption(json)
  .option('--explain', 'say which rule and which words decided')
  .action(async (options: { json?: boolean; explain?: boolean }) => {
    code = await classify({ json: options.json ?? false, explain: options.explain ?? false }, screen);
  });

program
  .command('doctor')
  .description('look for agents, git, sign-ins and leftovers, and say what to do')
  .option(
    '--fix',
    'mend what is safe: leftovers, stale locks, orphaned worktrees and processes, damaged files',
  )
  .addOption(json)
  .action(async (options: { json?: boolean; fix?: boolean }) => {
    code = await doctor(common.folder, { json: options.json ?? false, fix: options.fix ?? false }, screen);
  });

program
  .command('clean')
  .description('remove worktrees whose work is applied or saved')
  .option('--dry-run', 'only say what would go')
  .option('--yes', 'do not ask')
  .addOption(json)
  .action(async (options: { dryRun?: boolean; yes?: boolean; json?: boolean }) => {
    code = await clean(
      { ...common, json: options.json ?? false, dry: options.dryRun ?? false, yes: options.yes ?? false },
      screen,
    );
  });

program
  .command('demo')
  .description('four pretend agents meet a limit and resume; one minute, no account')
  .option('--no-apply', 'leave the work in its worktrees')
  .option('--chaos [seed]', 'kill and refuse at random; all work is done in the end')
  .addOption(json)
  .action(async (options: { json?: boolean; apply: boolean; chaos?: string | true }) => {
    const { chaos } = options;
    const seed = chaos === undefined ? null : chaos === true ? Date.now() % 100_000 : Number(chaos);
    if (seed !== null && !(Number.isInteger(seed) && seed >= 0))
      throw new CommandEnd(exitCodes.input, 'The number after --chaos must be a whole one.');
    code = await demo(
      { verbose: common.verbose, json: options.json ?? false, apply: options.apply, chaos: seed },
      screen,
    );
  });

// What stands before the command may also stand behind it. After its own options, so that the help tells these first.
for (const command of program.commands)
  command.addOption(folderOption().hideHelp()).addOption(verboseOption().hideHelp());

// A reader that closes early, as `head` does, is no failure; what has failed by itself ends with its own code.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (isGone(error)) return;
  process.once('exit', () => {
    complain(`not all of the output could be written: ${error.message}`);
    process.exitCode = exitCodes.environment;
  });
});
process.stderr.on('error', () => undefined);

/** What Node ends with where something is waited for and nothing can happen any more. */
const unfinished = 13;
process.once('exit', (ended) => {
  if (ended !== unfinished) return;
  complain('this ended before it was done; "swarm status" tells what is so');
  process.exitCode = exitCodes.environment;
});

try {
  await program.parseAsync();
} catch (error) {
  if (error instanceof CommanderError) {
    code = error.exitCode === 0 ? exitCodes.done : exitCodes.input;
    // Commander has said it on stderr; without a command it has printed its help and there is no error to tell.
    if (code !== exitCodes.done && error.code !== 'commander.help')
      tellAsJson(error.message.replace(/^error: /, ''), 'swarm --help lists the commands.');
  } else if (error instanceof CommandEnd) {
    complain(`${error.message}${error.fix ? `\n  ${error.fix}` : ''}`);
    tellAsJson(error.message, error.fix);
    code = error.code;
  } else throw error;
}
process.exitCode = code;

/** With --json an error is also one object on stdout, as for the mistakes of a manifest. */
function tellAsJson(message: string, fix: string): void {
  const own = process.argv.slice(2);
  const end = own.indexOf('--');
  if (!(end < 0 ? own : own.slice(0, end)).includes('--json')) return;
  screen.write(cleanJson({ type: 'error', errors: [{ line: null, message, fix }] }) + '\n');
}
