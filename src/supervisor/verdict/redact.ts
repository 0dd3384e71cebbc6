/** Replaces what looks like a secret. Linear in the length of the text; the kind of the secret stays readable. */
export function redact(text: string): string {
  if (text.length < 8) return text;
  let result = text;
  for (const { kind, shape, keep } of SHAPES) {
    result = result.replace(shape, (_match: string, ...groups: unknown[]) => {
      const before = keep && typeof groups[0] === 'string' ? groups[0] : '';
      return `${before}[redacted ${kind}]${keep === 'around' && typeof groups[1] === 'string' ? groups[1] : ''}`;
    });
  }
  return result;
}

interface Shape {
  readonly kind: string;
  readonly shape: RegExp;
  /** `before`: the first group stays; `around`: the first and the second. */
  readonly keep?: 'before' | 'around';
}

/** Every repetition has a bound or is of one class that its end does not belong to: nothing here can run away. */
const SHAPES: readonly Shape[] = [
  {
    kind: 'private key',
    shape:
      /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----[^-]{0,20000}(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----)?/g,
  },
  { kind: 'age key', shape: /AGE-SECRET-KEY-1[0-9A-Z]{20,80}/g },
  { kind: 'jwt', shape: /(?<![\w.-])eyJ[\w-]{8,4000}\.[\w-]{4,4000}(?:\.[\w-]{0,4000})?/g },
  { kind: 'anthropic key', shape: /(?<![\w-])sk-ant-[\w-]{8,300}/g },
  { kind: 'openrouter key', shape: /(?<![\w-])sk-or-(?:v1-)?[\w-]{8,200}/g },
  { kind: 'api key', shape: /(?<![\w-])sk-[\w-]{12,300}/g },
  { kind: 'stripe key', shape: /(?<![\w-])(?:sk|rk|pk)_(?:live|test)_\w{8,200}/g },
  { kind: 'webhook secret', shape: /(?<![\w-])whsec_[\w+/=]{8,200}/g },
  { kind: 'github token', shape: /(?<!\w)(?:gh[pousr]_\w{16,300}|github_pat_\w{16,300})/g },
  { kind: 'gitlab token', shape: /(?<![\w-])gl(?:pat|dt|rt|cbt|ptt|ft|soat|agent)-[\w.-]{12,300}/g },
  { kind: 'slack token', shape: /(?<![\w-])xox[abeoprs]-[\w-]{8,300}|(?<![\w-])xapp-[\w-]{8,300}/g },
  {
    kind: 'slack webhook',
    shape: /(hooks\.slack\.com\/(?:services|workflows)\/)[\w/]{8,200}/g,
    keep: 'before',
  },
  {
    kind: 'discord webhook',
    shape: /(discord(?:app)?\.com\/api\/webhooks\/\d{5,25}\/)[\w-]{10,200}/g,
    keep: 'before',
  },
  { kind: 'google key', shape: /(?<![\w-])AIza[\w-]{20,60}/g },
  {
    kind: 'google oauth',
    shape: /(?<![\w-])(?:ya29\.[\w-]{10,2000}|1\/\/0[\w-]{20,200}|GOCSPX-[\w-]{10,80})/g,
  },
  { kind: 'aws key id', shape: /(?<!\w)(?:AKIA|ASIA|AIDA|AROA|ABIA|ACCA)[A-Z0-9]{12,40}(?!\w)/g },
  {
    kind: 'azure key',
    shape: /((?:AccountKey|SharedAccessKey|SharedAccessSignature|sig)=)[\w%+/=-]{16,400}/g,
    keep: 'before',
  },
  { kind: 'hugging face token', shape: /(?<!\w)(?:hf|api_org)_[A-Za-z0-9]{16,100}/g },
  { kind: 'groq key', shape: /(?<!\w)gsk_\w{16,120}/g },
  { kind: 'xai key', shape: /(?<!\w)xai-\w{16,160}/g },
  { kind: 'perplexity key', shape: /(?<!\w)pplx-\w{16,120}/g },
  { kind: 'replicate token', shape: /(?<!\w)r8_\w{16,80}/g },
  { kind: 'fireworks key', shape: /(?<!\w)(?:fw|csk|tgp_v1|nvapi|jina|tvly|fc)[_-][\w-]{16,160}/g },
  {
    kind: 'npm token',
    shape: /(?<!\w)npm_\w{20,80}|(\/\/[\w.:/-]{1,200}:_authToken=)[^\s"']{6,400}/g,
    keep: 'before',
  },
  { kind: 'pypi token', shape: /(?<!\w)pypi-[\w-]{16,400}/g },
  { kind: 'docker token', shape: /(?<!\w)dckr_(?:pat|oat)_[\w-]{12,120}/g },
  { kind: 'sendgrid key', shape: /(?<!\w)SG\.[\w-]{12,80}\.[\w-]{12,120}/g },
  { kind: 'twilio id', shape: /(?<!\w)(?:SK|AC)[0-9a-f]{32}(?!\w)/g },
  { kind: 'mailgun key', shape: /(?<!\w)key-[0-9a-f]{32}(?!\w)/g },
  { kind: 'telegram token', shape: /(?<![\w:])\d{8,10}:AA[\w-]{30,40}(?!\w)/g },
  { kind: 'shopify token', shape: /(?<!\w)shp(?:at|ca|pa|ss)_[0-9a-fA-F]{20,80}/g },
  { kind: 'linear key', shape: /(?<!\w)lin_(?:api|oauth)_\w{16,80}/g },
  { kind: 'notion token', shape: /(?<!\w)(?:secret|ntn)_[A-Za-z0-9]{30,80}/g },
  { kind: 'databricks token', shape: /(?<!\w)dapi[0-9a-f]{32}/g },
  { kind: 'digitalocean token', shape: /(?<!\w)do[opr]_v1_[0-9a-f]{32,80}/g },
  { kind: 'sentry token', shape: /(?<!\w)sntry[su]_[\w+/=.-]{16,400}/g },
  { kind: 'grafana token', shape: /(?<!\w)gl(?:c|sa)_[\w+/=-]{16,400}/g },
  { kind: 'vault token', shape: /(?<!\w)hv[sbr]\.[\w-]{16,300}/g },
  { kind: 'age or pulumi token', shape: /(?<!\w)pul-[0-9a-f]{30,80}|(?<!\w)atlasv1\.[\w-]{16,200}/g },
  { kind: 'figma token', shape: /(?<!\w)figd_[\w-]{16,120}/g },
  { kind: 'newrelic key', shape: /(?<!\w)NR(?:AK|II|JS|RA)-[\w-]{16,80}/g },
  {
    kind: 'password',
    shape: /((?:[a-z][a-z0-9+.-]{1,30}):\/\/[^\s:/@"']{0,100}:)[^\s@/"']{1,200}(@)/gi,
    keep: 'around',
  },
  {
    kind: 'authorization',
    shape:
      /((?:proxy-)?authorization["']?\s{0,3}[:=]\s{0,3}["']?(?:(?:bearer|basic|token|digest|negotiate|apikey)\s{1,3})?)(?!\[redacted|(?:bearer|basic|token|digest|negotiate|apikey)\s)[^\s"',;]{4,4000}/gi,
    keep: 'before',
  },
  {
    kind: 'bearer token',
    shape: /(\bbearer\s{1,3})(?!\[redacted|token\b|auth)[\w.~+/=-]{12,4000}/gi,
    keep: 'before',
  },
  {
    kind: 'key header',
    shape:
      /((?:x-api-key|api-key|x-goog-api-key|x-auth-token|x-access-token|ocp-apim-subscription-key|private-token|x-csrf-token)["']?\s{0,3}[:=]\s{0,3}["']?)(?!\[redacted)[^\s"',;]{4,1000}/gi,
    keep: 'before',
  },
  {
    kind: 'cookie',
    shape: /((?:set-)?cookie["']?\s{0,3}:\s{0,3})(?!\[redacted)[^\n"]{4,4000}/gi,
    keep: 'before',
  },
  {
    kind: 'key parameter',
    shape:
      /([?&](?:key|api_?key|access_?token|refresh_?token|id_?token|token|sig|signature|secret|client_?secret|password|auth|code)=)(?!\[redacted)[^\s&"'#]{4,2000}/gi,
    keep: 'before',
  },
  {
    kind: 'secret',
    shape:
      /(["']?\b[\w.-]{0,60}?(?:token|secret|password|passwd|passphrase|api_?-?key|access_?-?key|private_?-?key|credentials?)["']?\s{0,3}[:=]\s{0,3}["'])(?!\[redacted)[^"'\n]{4,2000}/gi,
    keep: 'before',
  },
  {
    kind: 'secret',
    shape:
      /(\b[A-Za-z0-9_]{0,60}(?:TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|API_?KEY|ACCESS_?KEY|PRIVATE_?KEY|CREDENTIALS?|_AUTH|_PAT|_PWD|DATABASE_URL|_DSN)\s{0,2}=\s{0,2})(?!\[redacted)[^\s"'&;]{4,2000}/g,
    keep: 'before',
  },
  {
    kind: 'secret',
    shape: /(\b(?:password|passwd|pwd|secret|passphrase)\s{0,2}[:=]\s{0,2})(?!\[redacted)[^\s"'&;,]{4,400}/gi,
    keep: 'before',
  },
  {
    kind: 'secret option',
    shape:
      /(--(?:password|token|api-key|secret|access-token|auth-token|client-secret)[= ])(?!\[redacted)[^\s"']{4,400}/g,
    keep: 'before',
  },
];
