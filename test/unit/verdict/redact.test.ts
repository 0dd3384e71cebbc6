import { describe, expect, it } from 'vitest';
import { redact, secretSpans } from '../../../src/supervisor/verdict/redact.js';
import { secrets } from '../../support/secrets.js';

describe('redact', () => {
  it.each(secrets)('takes out a secret of the kind %s', (_kind, text, secret) => {
    const clean = redact(text);
    expect(clean).not.toContain(secret);
    expect(clean).not.toContain(secret.slice(0, Math.min(12, secret.length)));
    expect(clean).toContain('[redacted');
  });

  it.each(secrets)('finds where a secret of the kind %s stands', (_kind, text, secret) => {
    const rest = [...text];
    for (const [from, to] of secretSpans(text)) rest.fill('*', from, to);
    expect(rest.join('')).not.toContain(secret.slice(0, Math.min(12, secret.length)));
  });

  it('knows at least thirty kinds', () => {
    expect(new Set(secrets.map(([kind]) => kind)).size).toBeGreaterThanOrEqual(30);
  });

  it('leaves what is no secret as it is', () => {
    for (const text of [
      "You've hit your usage limit. Try again at 3:51 PM.",
      'Authentication Token 已过期，请重新生成/获取',
      'API Error: 401 {"type":"error","error":{"type":"authentication_error","message":"OAuth token has expired."}}',
      'tokens used: 12,345 of 200,000; max_tokens=4096',
      'at Fetch.onAborted (node:internal/deps/undici/undici:11736:53)',
      'https://platform.openai.com/account/rate-limits',
      'risk-based task-list desk-lamp',
    ]) {
      expect(redact(text)).toBe(text);
      expect(secretSpans(text)).toEqual([]);
    }
  });

  it('is idempotent', () => {
    for (const [, text] of secrets) expect(redact(redact(text))).toBe(redact(text));
  });

  it('takes linear time on what looks like the start of everything', () => {
    for (const part of [
      'sk-',
      'eyJ',
      '-----BEGIN PRIVATE KEY-----',
      'token=',
      'a:',
      'https://',
      'authorization: ',
      'x'.repeat(60) + '=',
      '"secret":"',
      'AAAA_',
    ]) {
      const text = part.repeat(Math.ceil(65_536 / part.length)).slice(0, 65_536);
      const start = performance.now();
      redact(text);
      expect(performance.now() - start, part).toBeLessThan(250);
    }
  });
});
