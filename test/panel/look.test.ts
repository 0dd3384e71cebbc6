import { mkdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { situations } from './fixtures.js';
import { PanelHarness, themes } from './harness.js';

const widths = [220, 300, 500, 900, 1000];
const heights: Readonly<Record<string, number>> = {
  details: 900,
  needs: 585,
  scale: 725,
  'empty-noagent': 560,
  empty: 500,
};
const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

let harness: PanelHarness;
beforeAll(async () => {
  await mkdir('artifacts/panel', { recursive: true });
  harness = await PanelHarness.start();
});
afterAll(() => harness.stop());

describe.each(Object.entries(situations))('%s', (name, situation) => {
  test.each(themes)(
    'in %s, at every width: no accessibility violation, nothing refused by the policy, nothing wider than the panel',
    async (theme) => {
      const height = heights[name] ?? 420;
      const panel = await harness.open(situation, { width: 300, theme, height });
      try {
        await panel.page.evaluate(axe);
        for (const width of widths) {
          await panel.page.setViewportSize({ width, height });
          await panel.settled();
          await panel.page.screenshot({
            path: `artifacts/panel/${name}-${width}-${theme}.png`,
            animations: 'disabled',
          });
          const found = await panel.page.evaluate<string[]>(
            `axe.run(document).then((r) => r.violations.map((v) => v.id + ': ' + v.nodes.map((n) =>
              n.target.join(' ') + ' ' + n.failureSummary).slice(0, 2).join(' | ')))`,
          );
          const wide = await panel.page.evaluate<boolean>(`document.documentElement.scrollWidth > ${width}`);
          expect({ width, found, complaints: panel.complaints, wide }).toEqual({
            width,
            found: [],
            complaints: [],
            wide: false,
          });
        }
      } finally {
        await panel.close();
      }
    },
  );
});
