import { expect, test } from 'vitest';
import { panelHtml } from '../../../src/protocol/panelHtml.js';
import { t, texts, useBundle } from '../../../src/webview/texts.js';

const page = {
  cspSource: 'https://x.test',
  nonce: 'abc',
  scriptUri: 's.js',
  styleUri: 's.css',
  codiconUri: 'c.css',
  locale: 'en',
};

test('the policy allows our script by nonce, our styles and fonts, and nothing else', () => {
  const html = panelHtml(page);
  expect(/content="(default-src[^"]*)"/.exec(html)?.[1]).toBe(
    "default-src 'none'; style-src https://x.test 'nonce-abc'; font-src https://x.test; script-src 'nonce-abc'",
  );
  expect(html).not.toContain('unsafe');
});

test('nothing that is put into the page can leave its attribute', () => {
  const html = panelHtml({ ...page, locale: '"><script>', bundle: { a: '"><script>x</script>' } });
  expect(html.match(/<script/g)?.length).toBe(1);
});

test('a translation is found by the English text', () => {
  useBundle({ 'Start {0} tasks': '{0} Aufgaben starten' });
  expect([t('empty.start.many', 3), t('empty.start')]).toEqual(['3 Aufgaben starten', 'Start']);
  useBundle({});
});

test('no text shouts, begs or promises', () => {
  for (const [key, text] of Object.entries(texts))
    expect(`${key}: ${text}`).not.toMatch(
      /!|please|oops|successfully|\b(worker|job|quota|throttl|backoff|orchestrat|canary|episode)/i,
    );
});
