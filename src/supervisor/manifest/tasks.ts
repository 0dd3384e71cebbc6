import type { InputError } from '../../protocol/request.js';
import type { ReadManifest } from './loose.js';
import { idPattern, longestPrompt } from './plan.js';
import type { Manifest } from './shape.js';
import type { Source } from './source.js';

export type DraftTask = NonNullable<Manifest['tasks']>[number] & {
  readonly id: string;
  /** Where it was written. */
  readonly path: readonly (string | number)[];
};

/** The tasks with their ids, from the list or from template and items; says what is wrong with each. */
export function expandTasks(read: ReadManifest, source: Source, errors: InputError[]): readonly DraftTask[] {
  const { manifest } = read;
  const drafts = [...listed(manifest), ...templated(read, source, errors)];
  if (
    drafts.length === 0 &&
    !errors.some((error) => /^(tasks|template|items|The manifest)\b/.test(error.message))
  )
    errors.push({
      line: source.lineOf(manifest.tasks === undefined ? [] : ['tasks']) ?? 1,
      message: 'There is no task',
      fix: 'Add at least one: "tasks:" with "- prompt: …", a line of text, or "- [ ] …" in Markdown.',
    });
  const seen = new Map<string, DraftTask>();
  for (const draft of drafts) {
    const lineOf = (key: string) => source.lineOf([...draft.path, key]);
    checkPrompt(draft, lineOf('prompt'), errors);
    if (!idPattern.test(draft.id)) {
      errors.push({
        line: lineOf('id'),
        message: `The id "${draft.id.slice(0, 80)}" ${/[/\\]|^\.+$/.test(draft.id) ? 'is a path' : 'is no valid id'}`,
        fix: `Write letters, digits, - and _ only, at most 64${idSuggestion(draft.id)}.`,
      });
      continue;
    }
    const before = seen.get(draft.id.toLowerCase());
    if (before !== undefined) {
      const line = source.lineOf([...before.path, 'id']);
      errors.push({
        line: lineOf('id'),
        message:
          before.id === draft.id
            ? `The id "${draft.id}" is used twice`
            : `The ids "${before.id}" and "${draft.id}" differ in case only`,
        fix: `Write another id${line === null ? '' : `; the first is in line ${line}`}.`,
      });
    } else seen.set(draft.id.toLowerCase(), draft);
  }
  return drafts;
}

function listed(manifest: Manifest): readonly DraftTask[] {
  return (manifest.tasks ?? []).map((task, i) => ({
    ...task,
    id: task.id ?? `t${i + 1}`,
    path: ['tasks', i],
  }));
}

function templated(
  { manifest, wasRefused }: ReadManifest,
  source: Source,
  errors: InputError[],
): readonly DraftTask[] {
  const { template, items } = manifest;
  if (template === undefined && items === undefined) return [];
  if (wasRefused(['template']) || wasRefused(['items'])) return [];
  if (template === undefined || items === undefined) {
    errors.push({
      line: source.lineOf([template === undefined ? 'items' : 'template']),
      message: template === undefined ? 'items without a template' : 'template without items',
      fix:
        template === undefined ? 'Add template: a text with {{item}} in it.' : 'Add items: [first, second].',
    });
    return [];
  }
  if (!/\{\{\s*item\s*\}\}/.test(template))
    errors.push({
      line: source.lineOf(['template']),
      message: 'template does not contain {{item}}',
      fix: 'Write {{item}} where the item belongs.',
    });
  const first = manifest.tasks?.length ?? 0;
  return items.map((item, i) => ({
    id: `t${first + i + 1}`,
    prompt: template.replace(/\{\{\s*item\s*\}\}/g, () => item),
    title: item.split('\n')[0]?.slice(0, 80) || undefined,
    path: ['items', i],
  }));
}

function checkPrompt(draft: DraftTask, line: number | null, errors: InputError[]): void {
  if (draft.prompt.trim() === '')
    errors.push({ line, message: `The prompt of "${draft.id}" is empty`, fix: 'Write what to do.' });
  const bytes = new TextEncoder().encode(draft.prompt).length;
  if (bytes > longestPrompt)
    errors.push({
      line,
      message: `The prompt of "${draft.id}" has ${Math.ceil(bytes / 1024)} KiB, more than 256`,
      fix: 'Put the long part into a file of the repository and name the file in the prompt.',
    });
}

function idSuggestion(id: string): string {
  const clean = id
    .replace(/[^A-Za-z0-9_-]+/g, '-')
    .replace(/^[^A-Za-z0-9]+|-+$/g, '')
    .slice(0, 64);
  return clean === '' ? '' : `, such as ${clean}`;
}
