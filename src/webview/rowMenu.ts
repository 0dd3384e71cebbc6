import type { BatchAction, ChildAction } from '../protocol/view.js';
import { actionLabel, batchActionLabel, batchMenuSections, keyOf, menuSections } from './actions.js';
import type { MenuEntry } from './menu.js';
import type { PanelModel } from './panelModel.js';
import { offReason } from './scene.js';
import { t } from './texts.js';

/** What the menu of a row can run. */
export interface MenuDeeds {
  readonly act: (action: ChildAction, keys: readonly string[]) => void;
  readonly actOnBatch: (action: BatchAction, batch: string) => void;
}

/** The menu of a row: of a batch, or of the children that are selected with it. */
export function rowMenu(model: PanelModel, key: string, deeds: MenuDeeds): readonly (readonly MenuEntry[])[] {
  const item = model.items.find((other) => other.key === key);
  return item?.kind === 'batch' ? batchMenu(model, item.batch, deeds) : childMenu(model, key, deeds);
}

function childMenu(model: PanelModel, key: string, deeds: MenuDeeds): readonly (readonly MenuEntry[])[] {
  const keys = model.chosen(key);
  return menuSections.map((section) =>
    section.flatMap((action): MenuEntry[] => {
      const targets = keys.filter((k) => model.seen.get(k)?.child.actions.includes(action) === true);
      if (targets.length === 0) return [];
      const label = actionLabel(action);
      return [
        {
          label: keys.length > 1 ? t('action.many', label, targets.length) : label,
          hint: keyOf(action, model.host?.letterKeys === true),
          off: offReason(action, model.host),
          run: () => deeds.act(action, targets),
        },
      ];
    }),
  );
}

function batchMenu(model: PanelModel, id: string, deeds: MenuDeeds): readonly (readonly MenuEntry[])[] {
  const batch = model.view.batches.find((b) => b.id === id);
  return batchMenuSections.map((section) =>
    section
      .filter((action) => batch?.actions.includes(action) === true)
      .map((action) => ({
        label: batchActionLabel(action),
        hint: '',
        off: offReason(action, model.host),
        run: () => deeds.actOnBatch(action, id),
      })),
  );
}
