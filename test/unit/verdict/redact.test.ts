import { describe, expect, it } from 'vitest';
import { redact, secretSpans } from '../../../src/supervisor/verdict/redact.js';

const r = (length: number): string => 'aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0z'.repeat(12).slice(0, length);
const hex = (length: number): string => '0123456789abcdef'.repeat(12).slice(0, length);
const up = (length: number): string => 'ABCDEFGHIJKLMNOP234567'.repeat(4).slice(0, length);

/** Kind, a text with a secret, and the secret that must be gone. Put together at run time, so that no scanner takes them for real. */
const secrets: readonly (readonly [kind: string, text: string, secret: string])[] = [
  ['Anthropic API key', `key sk-ant-api03-${r(80)} end`, r(80)],
  ['Anthropic OAuth token', `CLAUDE sk-ant-oat01-${r(60)}`, r(60)],
  ['OpenAI key', `Incorrect API key provided: sk-proj-${r(48)}.`, r(48)],
  ['OpenAI old key', `sk-${r(48)}`, r(48)],
  ['OpenRouter key', `sk-or-v1-${hex(64)}`, hex(64)],
  ['GitHub token', `remote https ghp_${r(36)}`, r(36)],
  ['GitHub server token', `ghs_${r(36)}`, r(36)],
  ['GitHub fine-grained token', `github_pat_${r(70)}`, r(70)],
  ['GitLab token', `glpat-${r(20)}`, r(20)],
  ['AWS key id', `AKIA${up(16)}`, up(16)],
  ['AWS session key id', `ASIA${up(16)}`, up(16)],
  ['AWS secret', `AWS_SECRET_ACCESS_KEY=${r(40)}`, r(40)],
  ['JWT', `eyJ${r(30)}.eyJ${r(60)}.${r(43)}`, r(60)],
  ['Bearer header', `Authorization: Bearer ${r(50)}`, r(50)],
  ['Basic header', `authorization: Basic ${r(30)}==`, r(30)],
  ['x-api-key header', `"x-api-key": "${r(40)}"`, r(40)],
  ['private key', `-----BEGIN RSA PRIVATE KEY-----\n${r(300)}\n-----END RSA PRIVATE KEY-----`, r(300)],
  [
    'OpenSSH key',
    `-----BEGIN OPENSSH PRIVATE KEY-----\n${r(200)}\n-----END OPENSSH PRIVATE KEY-----`,
    r(200),
  ],
  ['cut private key', `-----BEGIN PRIVATE KEY-----\n${r(200)}`, r(200)],
  ['Slack bot token', `xoxb-${r(40)}`, r(40)],
  ['Slack app token', `xapp-1-${r(40)}`, r(40)],
  ['Slack webhook', `https://hooks.slack.com/services/T000/B000/${r(24)}`, r(24)],
  ['Discord webhook', `https://discord.com/api/webhooks/123456789012345678/${r(60)}`, r(60)],
  ['Google API key', `AIza${r(35)}`, r(35)],
  ['Google OAuth token', `ya29.${r(80)}`, r(80)],
  ['Google client secret', `GOCSPX-${r(28)}`, r(28)],
  ['Azure storage key', `DefaultEndpointsProtocol=https;AccountKey=${r(86)}==`, r(86)],
  ['Hugging Face token', `hf_${r(34)}`, r(34)],
  ['Groq key', `gsk_${r(52)}`, r(52)],
  ['xAI key', `xai-${r(80)}`, r(80)],
  ['Perplexity key', `pplx-${r(48)}`, r(48)],
  ['Replicate token', `r8_${r(37)}`, r(37)],
  ['npm token', `npm_${r(36)}`, r(36)],
  ['npmrc token', `//registry.example.com/:_authToken=${r(36)}`, r(36)],
  ['PyPI token', `pypi-AgEI${r(100)}`, r(100)],
  ['Docker token', `dckr_pat_${r(27)}`, r(27)],
  ['Stripe key', `sk_live_${r(24)}`, r(24)],
  ['SendGrid key', `SG.${r(22)}.${r(43)}`, r(43)],
  ['Telegram token', `123456789:AA${r(33)}`, r(33)],
  ['Linear key', `lin_api_${r(40)}`, r(40)],
  ['Databricks token', `dapi${hex(32)}`, hex(32)],
  ['Vault token', `hvs.${r(90)}`, r(90)],
  ['connection string', `postgres://app:${r(20)}@db.example.com:5432/app`, r(20)],
  ['redis address', `redis://:${r(20)}@cache:6379`, r(20)],
  ['git address', `https://user:${r(30)}@git.example.com/a.git`, r(30)],
  ['environment token', `MY_SERVICE_TOKEN=${r(20)}`, r(20)],
  ['environment password', `export DB_PASSWORD="${r(20)}"`, r(20)],
  ['environment API key', `MOONSHOT_API_KEY=${r(30)}`, r(30)],
  ['JSON field', `{"refresh_token":"${r(40)}","n":1}`, r(40)],
  ['JSON in JSON', JSON.stringify({ text: `{"password": "${r(14)}"}` }), r(14)],
  ['JSON password', `{"password": "${r(14)}"}`, r(14)],
  ['URL parameter', `GET /v1?key=${r(39)}&alt=json`, r(39)],
  ['cookie', `Cookie: session=${r(40)}; theme=dark`, r(40)],
  ['command option', `tool --api-key ${r(20)} run`, r(20)],
  ['webhook secret', `whsec_${r(32)}`, r(32)],
];

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
