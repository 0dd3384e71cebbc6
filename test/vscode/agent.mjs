// An agent that does what its task says, by the line protocol of the `command` executor:
// "Write login", then maybe "limit 8" (refused once for so many seconds), "wait FILE" (works on until that file is
// there), "sign in" (its sign-in has expired, once), "break" (leaves a type error).
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import process from 'node:process';

const say = (event) => process.stdout.write(JSON.stringify(event) + '\n');
const prompt = readFileSync(process.env.SWARM_PROMPT_FILE, 'utf8');
const resumed = process.env.SWARM_SESSION !== undefined && process.env.SWARM_SESSION !== '';
// A resumed session knows what it was about, whatever the prompt says now.
const name =
  /^about-(\w+)$/.exec(process.env.SWARM_SESSION ?? '')?.[1] ??
  /Write (\w+)/.exec(prompt)?.[1] ??
  process.env.SWARM_CHILD;
const file = `src/${name}.ts`;

say({ type: 'session', id: `about-${name}` });
say({ type: 'read', path: 'src/index.ts' });
say({ type: 'next', items: [`Draft ${file}`, 'Complete it'] });
mkdirSync('src', { recursive: true });
say({ type: 'write', path: file });
writeFileSync(file, `export const ${name}: number = `);
say({ type: 'text', text: `Drafting ${file}` });

const limit = /limit (\d+)/.exec(prompt);
if (limit && !resumed) {
  const resetsAt = Math.ceil(Date.now() / 1000) + Number(limit[1]);
  say({ type: 'limit', status: 'rejected', resetsAt, window: 'five_hour' });
  process.exit(1);
}
if (/sign in/.test(prompt) && !resumed) {
  say({ type: 'error', message: 'OAuth token has expired. Please run /login', status: 401 });
  process.exit(1);
}
const wait = /wait (\S+)/.exec(prompt);
if (wait) {
  for (let n = 0; !existsSync(wait[1]); n += 1) {
    if (n % 10 === 0) say({ type: 'text', text: `Waiting, ${n / 10} s` });
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
say({ type: 'write', path: file });
writeFileSync(
  file,
  /break/.test(prompt) ? `export const ${name}: number = 'one';\n` : `export const ${name}: number = 1;\n`,
);
say({ type: 'usage', input: 1200, cachedInput: 800, output: 150 });
say({ type: 'decision', text: `${name} is a number` });
say({ type: 'done', result: `Wrote ${file}` });
