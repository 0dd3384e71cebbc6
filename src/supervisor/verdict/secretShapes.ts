export interface SecretShape {
  readonly kind: string;
  readonly shape: RegExp;
  /** `before`: the first group stays; `around`: the first and the second. */
  readonly keep?: 'before' | 'around';
  /** In lower case, `#` for a hex digit: without one of these the shape cannot be there, and is not looked for. */
  readonly hints: readonly string[];
}

const secretNames = [
  'token',
  'secret',
  'passw',
  'passphrase',
  'key',
  'credential',
  '_auth',
  '_pat',
  '_pwd',
  'pwd',
  'database_url',
  '_dsn',
];

/**
 * What secrets look like. Every repetition has a bound or is of one class that its end does not belong to: nothing here can
 * run away.
 */
export const secretShapes: readonly SecretShape[] = [
  { kind: 'age key', hints: ['age-secret'], shape: /AGE-SECRET-KEY-1[0-9A-Z]{20,80}/g },
  { kind: 'jwt', hints: ['eyj'], shape: /(?<![\w.-])eyJ[\w-]{8,4000}\.[\w-]{4,4000}(?:\.[\w-]{0,4000})?/g },
  { kind: 'anthropic key', hints: ['sk-ant'], shape: /(?<![\w-])sk-ant-[\w-]{8,300}/g },
  { kind: 'openrouter key', hints: ['sk-or'], shape: /(?<![\w-])sk-or-(?:v1-)?[\w-]{8,200}/g },
  { kind: 'api key', hints: ['sk-'], shape: /(?<![\w-])sk-[\w-]{12,300}/g },
  {
    kind: 'stripe key',
    hints: ['_live_', '_test_'],
    shape: /(?<![\w-])(?:sk|rk|pk)_(?:live|test)_\w{8,200}/g,
  },
  { kind: 'webhook secret', hints: ['whsec_'], shape: /(?<![\w-])whsec_[\w+/=]{8,200}/g },
  {
    kind: 'github token',
    hints: ['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_', 'github_pat'],
    shape: /(?<!\w)(?:gh[pousr]_\w{16,300}|github_pat_\w{16,300})/g,
  },
  {
    kind: 'gitlab token',
    hints: ['glpat-', 'gldt-', 'glrt-', 'glcbt-', 'glptt-', 'glft-', 'glsoat-', 'glagent-'],
    shape: /(?<![\w-])gl(?:pat|dt|rt|cbt|ptt|ft|soat|agent)-[\w.-]{12,300}/g,
  },
  {
    kind: 'slack token',
    hints: ['xox', 'xapp'],
    shape: /(?<![\w-])xox[abeoprs]-[\w-]{8,300}|(?<![\w-])xapp-[\w-]{8,300}/g,
  },
  {
    kind: 'slack webhook',
    hints: ['hooks.slack'],
    shape: /(hooks\.slack\.com\/(?:services|workflows)\/)[\w/]{8,200}/g,
    keep: 'before',
  },
  {
    kind: 'discord webhook',
    hints: ['webhooks/'],
    shape: /(discord(?:app)?\.com\/api\/webhooks\/\d{5,25}\/)[\w-]{10,200}/g,
    keep: 'before',
  },
  { kind: 'google key', hints: ['aiza'], shape: /(?<![\w-])AIza[\w-]{20,60}/g },
  {
    kind: 'google oauth',
    hints: ['ya29', '1//0', 'gocspx'],
    shape: /(?<![\w-])(?:ya29\.[\w-]{10,2000}|1\/\/0[\w-]{20,200}|GOCSPX-[\w-]{10,80})/g,
  },
  {
    kind: 'aws key id',
    hints: ['akia', 'asia', 'aida', 'aroa', 'abia', 'acca'],
    shape: /(?<!\w)(?:AKIA|ASIA|AIDA|AROA|ABIA|ACCA)[A-Z0-9]{12,40}(?!\w)/g,
  },
  {
    kind: 'azure key',
    hints: ['accountkey', 'sharedaccess', 'sig='],
    shape: /((?:AccountKey|SharedAccessKey|SharedAccessSignature|sig)=)[\w%+/=-]{16,400}/g,
    keep: 'before',
  },
  {
    kind: 'hugging face token',
    hints: ['hf_', 'api_org'],
    shape: /(?<!\w)(?:hf|api_org)_[A-Za-z0-9]{16,100}/g,
  },
  { kind: 'groq key', hints: ['gsk_'], shape: /(?<!\w)gsk_\w{16,120}/g },
  { kind: 'xai key', hints: ['xai-'], shape: /(?<!\w)xai-\w{16,160}/g },
  { kind: 'perplexity key', hints: ['pplx-'], shape: /(?<!\w)pplx-\w{16,120}/g },
  { kind: 'replicate token', hints: ['r8_'], shape: /(?<!\w)r8_\w{16,80}/g },
  {
    kind: 'fireworks key',
    hints: ['fw_', 'fw-', 'csk', 'tgp', 'nvapi', 'jina', 'tvly', 'fc-', 'fc_'],
    shape: /(?<!\w)(?:fw|csk|tgp_v1|nvapi|jina|tvly|fc)[_-][\w-]{16,160}/g,
  },
  {
    kind: 'npm token',
    hints: ['npm_', '_authtoken'],
    shape: /(?<!\w)npm_\w{20,80}|(\/\/[\w.:/-]{1,200}:_authToken=)(?!\[redacted)[^\s"']{6,400}/g,
    keep: 'before',
  },
  { kind: 'pypi token', hints: ['pypi-'], shape: /(?<!\w)pypi-[\w-]{16,400}/g },
  { kind: 'docker token', hints: ['dckr_'], shape: /(?<!\w)dckr_(?:pat|oat)_[\w-]{12,120}/g },
  { kind: 'sendgrid key', hints: ['sg.'], shape: /(?<!\w)SG\.[\w-]{12,80}\.[\w-]{12,120}/g },
  { kind: 'twilio id', hints: ['sk########', 'ac########'], shape: /(?<!\w)(?:SK|AC)[0-9a-f]{32}(?!\w)/g },
  { kind: 'mailgun key', hints: ['key-'], shape: /(?<!\w)key-[0-9a-f]{32}(?!\w)/g },
  { kind: 'telegram token', hints: [':aa'], shape: /(?<![\w:])\d{8,10}:AA[\w-]{30,40}(?!\w)/g },
  { kind: 'shopify token', hints: ['shp'], shape: /(?<!\w)shp(?:at|ca|pa|ss)_[0-9a-fA-F]{20,80}/g },
  { kind: 'linear key', hints: ['lin_'], shape: /(?<!\w)lin_(?:api|oauth)_\w{16,80}/g },
  { kind: 'notion token', hints: ['secret_', 'ntn_'], shape: /(?<!\w)(?:secret|ntn)_[A-Za-z0-9]{30,80}/g },
  { kind: 'databricks token', hints: ['dapi'], shape: /(?<!\w)dapi[0-9a-f]{32}/g },
  { kind: 'digitalocean token', hints: ['_v1_'], shape: /(?<!\w)do[opr]_v1_[0-9a-f]{32,80}/g },
  { kind: 'sentry token', hints: ['sntry'], shape: /(?<!\w)sntry[su]_[\w+/=.-]{16,400}/g },
  { kind: 'grafana token', hints: ['glc_', 'glsa_'], shape: /(?<!\w)gl(?:c|sa)_[\w+/=-]{16,400}/g },
  { kind: 'vault token', hints: ['hvs.', 'hvb.', 'hvr.'], shape: /(?<!\w)hv[sbr]\.[\w-]{16,300}/g },
  {
    kind: 'age or pulumi token',
    hints: ['pul-', 'atlasv1'],
    shape: /(?<!\w)pul-[0-9a-f]{30,80}|(?<!\w)atlasv1\.[\w-]{16,200}/g,
  },
  { kind: 'figma token', hints: ['figd_'], shape: /(?<!\w)figd_[\w-]{16,120}/g },
  {
    kind: 'newrelic key',
    hints: ['nrak', 'nrii', 'nrjs', 'nrra'],
    shape: /(?<!\w)NR(?:AK|II|JS|RA)-[\w-]{16,80}/g,
  },
  {
    kind: 'password',
    hints: ['://'],
    shape: /((?:[a-z][a-z0-9+.-]{1,30}):\/\/[^\s:/@"']{0,100}:)[^\s@/"']{1,200}(@)/gi,
    keep: 'around',
  },
  {
    kind: 'authorization',
    hints: ['authorization'],
    shape:
      /((?:proxy-)?authorization["']?\s{0,3}[:=]\s{0,3}["']?(?:(?:bearer|basic|token|digest|negotiate|apikey)\s{1,3})?)(?!\[redacted|(?:bearer|basic|token|digest|negotiate|apikey)\s)[^\s"',;]{4,4000}/gi,
    keep: 'before',
  },
  {
    kind: 'bearer token',
    hints: ['bearer'],
    shape: /(\bbearer\s{1,3})(?!\[redacted|token\b|auth)[\w.~+/=-]{12,4000}/gi,
    keep: 'before',
  },
  {
    kind: 'key header',
    hints: ['key', 'token'],
    shape:
      /((?:x-api-key|api-key|x-goog-api-key|x-auth-token|x-access-token|ocp-apim-subscription-key|private-token|x-csrf-token)["']?\s{0,3}[:=]\s{0,3}["']?)(?!\[redacted)[^\s"',;]{4,1000}/gi,
    keep: 'before',
  },
  {
    kind: 'cookie',
    hints: ['cookie'],
    shape: /((?:set-)?cookie["']?\s{0,3}:)(?!\s{0,3}\[redacted)[^\n"]{4,4000}/gi,
    keep: 'before',
  },
  {
    kind: 'key parameter',
    hints: ['key=', 'token=', 'sig=', 'signature=', 'secret=', 'password=', 'auth=', 'code='],
    shape:
      /([?&](?:key|api_?key|access_?token|refresh_?token|id_?token|token|sig|signature|secret|client_?secret|password|auth|code)=)(?!\[redacted)[^\s&"'#]{4,2000}/gi,
    keep: 'before',
  },
  {
    kind: 'secret',
    hints: secretNames,
    shape:
      /(["']?\b[\w.-]{0,60}?(?:token|secret|password|passwd|passphrase|api_?-?key|access_?-?key|private_?-?key|credentials?)\\{0,3}["']?\s{0,3}[:=]\s{0,3}\\{0,3}["'])(?!\[redacted)(?:[^"'\\\n]|\\(?!["'])){4,2000}/gi,
    keep: 'before',
  },
  {
    kind: 'secret',
    hints: secretNames,
    shape:
      /(\b[A-Za-z0-9_]{0,60}(?:TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|API_?KEY|ACCESS_?KEY|PRIVATE_?KEY|CREDENTIALS?|_AUTH|_PAT|_PWD|DATABASE_URL|_DSN)\s{0,2}=\s{0,2})(?!\[redacted)[^\s"'&;]{4,2000}/g,
    keep: 'before',
  },
  {
    kind: 'secret',
    hints: secretNames,
    shape: /(\b(?:password|passwd|pwd|secret|passphrase)\s{0,2}[:=]\s{0,2})(?!\[redacted)[^\s"'&;,]{4,400}/gi,
    keep: 'before',
  },
  {
    kind: 'secret option',
    hints: [
      '--password',
      '--token',
      '--api-key',
      '--secret',
      '--access-token',
      '--auth-token',
      '--client-secret',
    ],
    shape:
      /(--(?:password|token|api-key|secret|access-token|auth-token|client-secret)[= ])(?!\[redacted)[^\s"']{4,400}/g,
    keep: 'before',
  },
  // The last: a key that was cut takes what follows it, but not the half of another secret.
  {
    kind: 'private key',
    hints: ['private key'],
    shape:
      /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----[^-]{0,20000}(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----)?/g,
  },
];
