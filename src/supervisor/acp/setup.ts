import type { Permissions } from '../agents/agent.js';
import { type JsonObject, objectOf, objectsOf, textOf } from '../agents/jsonLine.js';

/** A request that sets something of the session, and what it sets. */
export interface Setting {
  readonly method: 'session/set_mode' | 'session/set_model' | 'session/set_config_option';
  readonly params: Readonly<Record<string, string>>;
}

interface Choice {
  readonly offered: readonly { readonly id: string; readonly name: string }[];
  readonly current: string;
  setting(id: string): Setting;
}

/** Edits without a question, everything else asked for. */
const edits = /(?:accept|auto)[-_]?edits?$/i;
/** Nothing is asked for. */
const everything = /bypass|yolo|full[-_]?access|autopilot/i;
/** Decides without us; worse than being asked where not everything is allowed. */
const decides = /(?:^|#)auto$/i;
const asks = /(?:^|#)(?:default|agent|ask|manual|code|build)$/i;

/**
 * The mode that the session should be put into; null: it stays as it is. Modes are free words, so this is a guess:
 * what counts is what is answered when the agent asks.
 */
export function modeSetting(opened: JsonObject, permissions: Permissions): Setting | null {
  const choice = choiceOf(opened, 'mode');
  if (choice === null) return null;
  const find = (pattern: RegExp): string | null =>
    choice.offered.find(({ id }) => pattern.test(id))?.id ?? null;
  const unasked = everything.test(choice.current) || decides.test(choice.current);
  const wanted = permissions === 'full' ? find(everything) : (find(edits) ?? (unasked ? find(asks) : null));
  return wanted === null || wanted === choice.current ? null : choice.setting(wanted);
}

/** The model by its id or its name. `unknown`: the agent names its models, and this is none of them. */
export function modelSetting(
  opened: JsonObject,
  model: string,
): Setting | { readonly unknown: readonly string[] } | null {
  const choice = choiceOf(opened, 'model');
  if (choice === null) return null;
  const found = choice.offered.find(({ id, name }) => id === model || name === model);
  if (found === undefined) return { unknown: choice.offered.map(({ id }) => id) };
  return found.id === choice.current ? null : choice.setting(found.id);
}

/** Newer agents offer it as a configuration option, older ones in a field of its own. */
function choiceOf(opened: JsonObject, category: 'mode' | 'model'): Choice | null {
  const options = objectsOf(opened['configOptions']);
  const option = options.find((one) => one['category'] === category && one['type'] === 'select');
  if (option !== undefined) {
    const configId = textOf(option['id']);
    return {
      offered: objectsOf(option['options'])
        .flatMap((one) => (Array.isArray(one['options']) ? objectsOf(one['options']) : [one]))
        .map((one) => ({ id: textOf(one['value']), name: textOf(one['name']) })),
      current: textOf(option['currentValue']),
      setting: (value) => ({ method: 'session/set_config_option', params: { configId, value } }),
    };
  }
  if (category === 'mode') {
    const modes = objectOf(opened['modes']);
    return modes === null
      ? null
      : {
          offered: objectsOf(modes['availableModes']).map((mode) => ({
            id: textOf(mode['id']),
            name: textOf(mode['name']),
          })),
          current: textOf(modes['currentModeId']),
          setting: (modeId) => ({ method: 'session/set_mode', params: { modeId } }),
        };
  }
  const models = objectOf(opened['models']);
  return models === null
    ? null
    : {
        offered: objectsOf(models['availableModels']).map((one) => ({
          id: textOf(one['modelId']),
          name: textOf(one['name']),
        })),
        current: textOf(models['currentModelId']),
        setting: (modelId) => ({ method: 'session/set_model', params: { modelId } }),
      };
}
