// Measures a panel with 1,000 children: frames while scrolling, the cost of a second, from a view to the screen.
// node bench/panel/scroll.mjs   (needs Chromium at /usr/bin/chromium; values are printed, nothing is asserted)
import { chromium } from 'playwright-core';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { build } from 'esbuild';
import { buildWebview } from '../../scripts/buildWebview.mjs';

const root = path.join(import.meta.dirname, '../..');
const folder = await mkdtemp(path.join(tmpdir(), 'swarm-bench-'));
await buildWebview({ outdir: folder, minify: true });
await build({
  stdin: {
    contents: `export { panelHtml } from './src/protocol/panelHtml.ts';
      export { at, batch, child, gate, readyHost, view } from './test/panel/fixtures.ts';`,
    resolveDir: root,
    loader: 'ts',
  },
  bundle: true,
  format: 'esm',
  platform: 'node',
  outfile: path.join(folder, 'parts.mjs'),
});
const { panelHtml, at, batch, child, gate, readyHost, view } = await import(path.join(folder, 'parts.mjs'));

const displays = ['running', 'paused', 'held', 'done', 'queued'];
const children = Array.from({ length: 1000 }, (_, i) => {
  const display = displays[i % 5];
  const waits = {
    reason: { class: 'usage_limit', message: '', needsUser: false },
    resetAt: at('18:30'),
    resetSource: 'event',
  };
  return child(`t${i}`, `src/server/payments/module${i}/settlement-report.ts`, 'claude', display, {
    lastLine: `Editing file ${i}`,
    ...(display === 'paused' ? waits : {}),
    total: i,
  });
});
const big = (seq) => ({
  ...view(
    [
      batch(
        children.map((c, i) => (i % 50 === seq % 50 ? { ...c, lastLine: `line ${seq}` } : c)),
        { name: 'A thousand' },
      ),
    ],
    [gate('claude', 'closedUntil', { until: at('18:30'), source: 'event', waiting: 400 })],
  ),
  seq,
});

const types = { '.js': 'text/javascript', '.css': 'text/css', '.ttf': 'font/ttf' };
const server = createServer((request, response) => {
  const name = path.basename(request.url ?? '/');
  const send = (type, body) => {
    response.writeHead(200, { 'content-type': type });
    response.end(body);
  };
  if (name === '')
    send(
      'text/html',
      panelHtml({
        cspSource: "'self'",
        nonce: 'n',
        scriptUri: '/webview.js',
        styleUri: '/webview.css',
        codiconUri: '/codicon.css',
        locale: 'en',
      }).replace('<link', '<link rel="stylesheet" href="/dark-modern.css"><link'),
    );
  else {
    const file =
      name === 'dark-modern.css' ? path.join(root, 'test/panel/themes', name) : path.join(folder, name);
    readFile(file).then(
      (body) => send(types[path.extname(name)] ?? 'text/plain', body),
      () => response.writeHead(404).end(),
    );
  }
});
await new Promise((done) => server.listen(0, '127.0.0.1', done));

const browser = await chromium.launch({
  executablePath: '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu'],
});
const page = await browser.newPage({ viewport: { width: 420, height: 800 } });
await page.clock.setFixedTime(new Date(at('17:17:55')));
await page.addInitScript(() => {
  document.addEventListener(
    'DOMContentLoaded',
    () => (document.documentElement.dataset.theme = 'dark-modern'),
  );
  globalThis.acquireVsCodeApi = () => ({
    postMessage() {},
    setState() {},
    getState: () => ({ grouped: false }),
  });
});
await page.goto(`http://127.0.0.1:${server.address().port}/`);
await page.evaluate((message) => (window.base = message), {
  type: 'view',
  serial: 0,
  view: big(1),
  host: readyHost,
});
/** A view as the host sends it, with some last lines changed; built in the page, so that only the panel is measured. */
const show = (serial) =>
  page.evaluate(async (serial) => {
    const [batch] = window.base.view.batches;
    const children = batch.children.map((c, i) =>
      i % 50 === serial % 50 ? { ...c, lastLine: `line ${serial}` } : c,
    );
    const view = { ...window.base.view, seq: serial, batches: [{ ...batch, children }] };
    const message = { ...window.base, serial, view };
    const from = performance.now();
    window.postMessage(message, '*');
    await new Promise((done) =>
      window.addEventListener('message', () => requestAnimationFrame(() => setTimeout(done)), { once: true }),
    );
    return performance.now() - from;
  }, serial);

// Time of the page's thread, which a busy machine does not stretch.
const cdp = await page.context().newCDPSession(page);
await cdp.send('Performance.enable', { timeDomain: 'threadTicks' });
const spent = async () =>
  Object.fromEntries(
    (await cdp.send('Performance.getMetrics')).metrics.map(({ name, value }) => [name, value * 1000]),
  );
async function cpu(name, times, run) {
  const before = await spent();
  const result = await run();
  const after = await spent();
  const per = (key) => ((after[key] - before[key]) / times).toFixed(1);
  console.log(
    `${name}, of the thread: ${per('TaskDuration')} ms each (script ${per('ScriptDuration')}, style ${per('RecalcStyleDuration')}, layout ${per('LayoutDuration')})`,
  );
  return result;
}

console.log(`first view to screen: ${(await show(1)).toFixed(0)} ms`);
const updates = [];
await cpu('later view', 20, async () => {
  for (let serial = 2; serial < 22; serial++) updates.push(await show(serial));
});
console.log(`later view to screen: ${spread(updates)} ms`);
const ticks = await cpu('a second', 30, () =>
  page.evaluate(async () => {
    const panel = document.querySelector('swarm-panel');
    const costs = [];
    for (let i = 0; i < 30; i++) {
      const from = performance.now();
      panel.requestUpdate();
      await panel.updateComplete;
      costs.push(performance.now() - from);
      await new Promise((done) => requestAnimationFrame(done));
    }
    return costs;
  }),
);
console.log(`a second's drawing: ${spread(ticks)} ms`);
const idle = await page.evaluate(async () => {
  const gaps = [];
  let last = performance.now();
  for (let i = 0; i < 120; i++) {
    const now = await new Promise((done) => requestAnimationFrame(done));
    gaps.push(now - last);
    last = now;
  }
  return gaps.slice(2);
});
console.log(`frames at rest: ${spread(idle)} ms`);
const frames = await cpu('a step of scrolling', 240, () =>
  page.evaluate(async () => {
    const tree = document.querySelector('.tree');
    const gaps = [];
    let last = performance.now();
    for (let i = 0; i < 240; i++) {
      tree.scrollTop += 60;
      const now = await new Promise((done) => requestAnimationFrame(done));
      gaps.push(now - last);
      last = now;
    }
    return gaps.slice(2);
  }),
);
console.log(
  `frames while scrolling 60 px each: ${spread(frames)} ms, ${frames.filter((gap) => gap > 17.5).length} of ${frames.length} late`,
);
console.log(`rows in the document: ${await page.locator('.row').count()}`);
await browser.close();
server.close();
await rm(folder, { recursive: true });

function spread(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))].toFixed(1);
  return `p50 ${at(0.5)}, p95 ${at(0.95)}, max ${at(1)}`;
}
