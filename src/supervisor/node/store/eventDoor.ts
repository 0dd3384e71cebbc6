import type { Problem } from '../../../protocol/view.js';
import { syncedEvents, type Event, type Stamped } from '../../core/event.js';
import type { RawRecord } from './record.js';

/** Records as events. One that this version does not know is skipped and named. */
export function parseEvents(
  records: readonly RawRecord[],
  file: string,
  problems: Problem[],
): readonly Stamped[] {
  const stamped: Stamped[] = [];
  const unknown = new Map<string, number>();
  for (const { n, t, offset, event } of records) {
    if (Object.hasOwn(syncedEvents, event.type))
      stamped.push({ seq: n, t, offset, event: event as unknown as Event });
    else unknown.set(event.type, (unknown.get(event.type) ?? 0) + 1);
  }
  for (const [type, count] of unknown)
    problems.push({
      path: file,
      message: `${count} events of the type ${JSON.stringify(type.slice(0, 60))} are not known to this version and were passed over.`,
    });
  return stamped;
}
