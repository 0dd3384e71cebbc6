import type { Answer, InputError } from '../protocol/request.js';
import type { SupervisorOptions } from './api.js';
import type { Event } from './core/event.js';
import type { EffectContext } from './effects/context.js';
import type { Plans } from './plans.js';

export interface RequestContext {
  readonly context: EffectContext;
  readonly options: SupervisorOptions;
  readonly plans: Plans;
}

export function refused(code: 1 | 2 | 3, message: string, fix: string): Answer {
  const error: InputError = { line: null, message, fix };
  return { ok: false, code, errors: [error] };
}

/** Yes when the event is in the journal; otherwise why it is not. */
export async function durably(context: EffectContext, event: Event): Promise<Answer> {
  if (await context.postDurably(event)) return { ok: true };
  return context.mayAct()
    ? refused(3, 'There is no space left on the disk', 'Free some space, then ask again.')
    : refused(3, 'Another process has taken this folder over', 'Ask again.');
}
