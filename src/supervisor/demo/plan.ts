/**
 * What the demo's pretend model answers: a fixed plan of steps for each task of the demo workspace, and a general
 * one for any other task. The model is the only thing that is pretended; the agent reads and writes real files.
 */
export type Step =
  | { readonly do: 'read'; readonly path: string; readonly say: string }
  | { readonly do: 'decide'; readonly text: string; readonly next: readonly string[] }
  /** A whole file; `half`: what stands there while it is half-written. */
  | { readonly do: 'write'; readonly path: string; readonly text: string }
  | { readonly do: 'check'; readonly say: string }
  | { readonly do: 'done'; readonly say: string };

export function planFor(prompt: string): readonly Step[] {
  const known = plans.find((plan) => prompt.includes(plan.task));
  return known ? known.steps : generalPlan(prompt);
}

/** The tasks of the demo, in the order of its manifest. */
export function demoTasks(): readonly { readonly id: string; readonly task: string }[] {
  return plans.map(({ id, task }) => ({ id, task }));
}

function generalPlan(prompt: string): readonly Step[] {
  const title = prompt.trim().split('\n')[0] ?? 'note';
  const slug =
    title
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')
      .replace(/^-|-$/g, '')
      .slice(0, 40) || 'note';
  const path = `notes/${slug}.md`;
  return [
    { do: 'read', path: 'README.md', say: 'Reading what there is' },
    { do: 'decide', text: 'Write it down in a note of its own', next: ['Draft the note', 'Complete it'] },
    { do: 'write', path, text: `# ${title}\n\n(draft` },
    {
      do: 'write',
      path,
      text: `# ${title}\n\nThe demo agent has no model: it wrote this note and nothing else.\n`,
    },
    { do: 'done', say: `Wrote ${path}` },
  ];
}

const plans: readonly { readonly id: string; readonly task: string; readonly steps: readonly Step[] }[] = [
  {
    id: 'cart',
    task: 'Check the items of a cart',
    steps: [
      { do: 'read', path: 'src/cart.ts', say: 'Reading the cart' },
      { do: 'read', path: 'src/index.ts', say: 'Reading its callers' },
      {
        do: 'decide',
        text: 'Refuse a bad item with its name',
        next: ['Write the check', 'Use it in total()', 'Run the type check'],
      },
      {
        do: 'write',
        path: 'src/cart.ts',
        text: `export interface Item {
  readonly name: string;
  readonly cents: number;
  readonly count: number;
}

/** Throws with the item's name when its price or count is no whole number from 0 up.
export function assertItem(item: Item): void {
  for (const key of ['cents', 'count'] as const) {
    if (!Number.isInteger(item[key]
`,
      },
      {
        do: 'write',
        path: 'src/cart.ts',
        text: `export interface Item {
  readonly name: string;
  readonly cents: number;
  readonly count: number;
}

/** Throws with the item's name when its price or count is no whole number from 0 up. */
export function assertItem(item: Item): void {
  for (const key of ['cents', 'count'] as const) {
    if (!Number.isInteger(item[key]) || item[key] < 0) throw new RangeError(\`\${item.name}: \${key} is \${item[key]}\`);
  }
}

/** Sum of a cart in cents. */
export function total(items: readonly Item[]): number {
  items.forEach(assertItem);
  return items.reduce((sum, item) => sum + item.cents * item.count, 0);
}
`,
      },
      { do: 'check', say: 'Running the type check' },
      { do: 'done', say: 'A bad item is refused with its name' },
    ],
  },
  {
    id: 'money',
    task: 'Format money by currency',
    steps: [
      { do: 'read', path: 'src/format.ts', say: 'Reading the formatter' },
      {
        do: 'decide',
        text: 'Use Intl, it is in the language',
        next: ['Add the currency', 'Keep EUR as the default', 'Run the type check'],
      },
      {
        do: 'write',
        path: 'src/format.ts',
        text: `export type Currency = 'EUR' | 'USD' | 'JPY';

export function money(cents: number, currency: Currency = 'EUR'): string {
  const digits = currency === 'JPY' ? 0 : 2;
  return new Intl.NumberFormat('en', { style: 'currency', currency, minimumFractionDigits:
`,
      },
      {
        do: 'write',
        path: 'src/format.ts',
        text: `export type Currency = 'EUR' | 'USD' | 'JPY';

/** An amount in the currency's smallest unit, as people write it. */
export function money(amount: number, currency: Currency = 'EUR'): string {
  const digits = currency === 'JPY' ? 0 : 2;
  return new Intl.NumberFormat('en', { style: 'currency', currency }).format(amount / 10 ** digits);
}
`,
      },
      { do: 'check', say: 'Running the type check' },
      { do: 'done', say: 'Money knows its currency' },
    ],
  },
  {
    id: 'greeting',
    task: 'Greet people by the time of day',
    steps: [
      { do: 'read', path: 'src/user.ts', say: 'Reading the greeting' },
      { do: 'read', path: 'src/index.ts', say: 'Reading its callers' },
      {
        do: 'decide',
        text: 'Pass the hour in, so that it can be tested',
        next: ['Choose the words', 'Default to the local hour', 'Run the type check'],
      },
      {
        do: 'write',
        path: 'src/user.ts',
        text: `export interface User {
  readonly name: string;
}

export function greet(user: User, hour = new Date().getHours()): string {
  const words = hour < 11 ? 'Good morning' : hour < 18 ? 'Hello' :
`,
      },
      {
        do: 'write',
        path: 'src/user.ts',
        text: `export interface User {
  readonly name: string;
}

/** A greeting that fits the hour (0 to 23). */
export function greet(user: User, hour = new Date().getHours()): string {
  const words = hour < 11 ? 'Good morning' : hour < 18 ? 'Hello' : 'Good evening';
  return \`\${words}, \${user.name}\`;
}
`,
      },
      { do: 'check', say: 'Running the type check' },
      { do: 'done', say: 'The greeting fits the hour' },
    ],
  },
  {
    id: 'receipt',
    task: 'Print a receipt',
    steps: [
      { do: 'read', path: 'src/index.ts', say: 'Reading the start' },
      {
        do: 'decide',
        text: 'A file of its own; the others are being changed',
        next: ['Write receipt.ts', 'Run the type check'],
      },
      {
        do: 'write',
        path: 'src/receipt.ts',
        text: `import type { Item } from './cart.js';\n\nexport function receipt(items: readonly Item[]): string {\n  return items.map((item) => \`\${item.count} x\n`,
      },
      {
        do: 'write',
        path: 'src/receipt.ts',
        text: `import type { Item } from './cart.js';
import { money } from './format.js';

/** One line an item. */
export function receipt(items: readonly Item[]): string {
  return items.map((item) => \`\${item.count} x \${item.name}  \${money(item.cents * item.count)}\`).join('\\n');
}
`,
      },
      { do: 'check', say: 'Running the type check' },
      { do: 'done', say: 'receipt() prints one line an item' },
    ],
  },
];
