import type { ManifestDefaults } from '../../../src/supervisor/manifest/manifest.js';

/** What the person's settings say, as far as a test does not say else. */
export const defaults: ManifestDefaults = {
  executors: {},
  defaultExecutor: 'claude',
  maxConcurrent: 8,
  check: null,
  timeout: { idle: 600_000, total: null },
  holdAbove: 95,
};
