import type { View } from '../../protocol/view.js';
import { cleanJson } from './clean.js';
import { changesBetween } from './changes.js';
import type { Reporter, Screen } from './reporter.js';

/** NDJSON: each line the changed part of the view; a batch comes before its children, `end` comes last. */
export function jsonReporter(screen: Screen, ids: ReadonlySet<string> | null): Reporter {
  let last: View | null = null;
  const write = (value: Record<string, unknown>): void =>
    screen.write(cleanJson({ t: new Date().toISOString(), ...value }) + '\n');
  return {
    view(view) {
      for (const change of changesBetween(last, view, ids)) {
        if (change.type === 'batch') write({ type: 'batch', ...change.changed, id: change.batch.id });
        else if (change.type === 'gate')
          write({
            type: 'gate',
            ...change.changed,
            credential: change.gate.credential,
            ...(change.gate.model === undefined ? {} : { model: change.gate.model }),
          });
        else write({ type: 'child', ...change.changed, batch: change.batch, id: change.child.id });
        if (change.type === 'batch' && change.changed['check'])
          write({ type: 'check', batch: change.batch.id, check: change.changed['check'] });
      }
      last = view;
    },
    message: (text) => write({ type: 'message', message: text }),
    end: (code) => write({ type: 'end', code }),
  };
}
