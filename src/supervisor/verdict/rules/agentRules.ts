import { words, type Rule } from './rule.js';

const ZAI = words(/z\.?ai|zhipu|bigmodel|glm|智谱/);
const MINIMAX = words(/minimax/);
const MISTRAL = words(/mistral|devstral|codestral/);
const QWEN = words(/qwen|dashscope|alibaba|bailian|aliyun|百炼/);
const BAIDU = words(/baidu|qianfan|ernie|wenxin|千帆/);
const BEDROCK = words(/bedrock|aws|amazon/);

/**
 * What single providers and agents mean by their own words and numbers. Asked before the general rules.
 * A number is only a code beside the provider that gives it this meaning: 1300 is a rate limit at one and a policy block at another.
 */
export const agentRules: readonly Rule[] = [
  {
    name: 'selected-model',
    when: {
      words: words(
        /issue with the selected model|may not exist or you may not have access|model[^\n]{0,80}does not exist or you (?:do not|don't) have/,
      ),
    },
    class: 'invalid_request',
    scope: 'model',
  },
  {
    name: 'concurrency',
    when: {
      words: words(
        /max(?:imum)? (?:organization |user |account )?concurren|concurren\w{1,8}[^\n]{0,40}(?:limit|exceed|too (?:high|many)|reached)|too many concurrent/,
      ),
    },
    class: 'rate_limit',
    byWait: true,
  },
  {
    name: 'slots-taken',
    when: {
      words: words(
        /(?:worker|queue|backend|replica|node|pool|slot)s?\b[^\n.]{0,40}(?:limit (?:reached|exceeded)|(?:is |are )(?:all )?(?:full|taken|busy)|saturated)/,
      ),
    },
    class: 'overloaded',
  },
  {
    name: 'compaction-failed',
    when: {
      words: words(
        /(?:compact(?:ion|ing)[^\n]{0,40}(?:failed|error|conversation too long)|error during compact\w+|(?:context|conversation)[^\n]{0,60}even after[^\n]{0,40}(?:truncat|compact|summar)|compaction\.failed|(?:failed|unable|could not|couldn't) to compact)/,
      ),
    },
    class: 'context_overflow',
    recoverable: false,
    needsUser: true,
  },
  // Google: the sentence about the quota is the same for a minute and for a day; the time tells.
  {
    name: 'google-no-quota',
    when: { words: words(/limit: 0(?![.\d])/) },
    class: 'auth_denied',
    scope: 'model',
  },
  {
    name: 'google-daily',
    when: { words: words(/exhausted your daily quota/) },
    class: 'usage_limit',
    scope: 'model',
    window: 'daily',
    timeless: true,
  },
  {
    name: 'google-capacity',
    when: { words: words(/exhausted your capacity on this model/) },
    class: 'rate_limit',
    scope: 'model',
    byWait: true,
  },
  {
    name: 'google-day',
    when: { words: words(/quota exceeded[^\n]{0,200}(?:per day|per_day|perday)/) },
    class: 'usage_limit',
    scope: 'model',
    window: 'daily',
    timeless: true,
  },
  {
    name: 'google-current-quota',
    when: {
      words: words(
        /(?:exceeded your current quota|quota exceeded for (?:quota )?metric)[\s\S]{0,700}(?:retry in|suggested retry|generativelanguage|ai\.google\.dev|gemini-api)/,
      ),
      not: words(/per day|perday|per_day/),
    },
    class: 'rate_limit',
    scope: 'model',
    byWait: true,
  },
  {
    name: 'minute-quota',
    when: {
      words: words(
        /(?:quota|limit|too many|throttl|rate)[^\n]{0,200}(?:per[-_ ]?min(?:ute)?(?![a-z])|\brpm\b|\btpm\b|tokens\/min|requests\/min|per[-_ ]?second)|(?:per[-_ ]?min(?:ute)?(?![a-z])|\brpm\b|\btpm\b)[^\n]{0,60}(?:quota|limit|exceeded|reached)/,
      ),
      not: words(
        /limiter\b[^\n]{0,20}(?:configured|enabled|set|started)|burst \d|per[-_ ]?day|perday|\btpd\b|\brpd\b|request too large|usage limit (?:reached|exceeded)|hit your usage/,
      ),
    },
    class: 'rate_limit',
    window: 'minute',
  },
  // z.ai and bigmodel.cn answer nearly everything with HTTP 429 and a number.
  {
    name: 'zai-rate',
    when: { agent: ZAI, code: words(/^130[23]$|\n130[23](?:\n|$)/) },
    class: 'rate_limit',
    byWait: true,
  },
  {
    name: 'zai-busy',
    when: { agent: ZAI, code: words(/^(?:1305|1312|1230|1234|500)$|\n(?:1305|1312|1230|1234)(?:\n|$)/) },
    class: 'overloaded',
  },
  {
    name: 'zai-daily',
    when: {
      agent: ZAI,
      code: words(/^(?:1304|1308|1310|1316|1317)$|\n(?:1304|1308|1310|1316|1317)(?:\n|$)/),
    },
    class: 'usage_limit',
  },
  {
    name: 'zai-arrears',
    when: { agent: ZAI, code: words(/^(?:1113|1309)$|\n(?:1113|1309)(?:\n|$)/) },
    class: 'credits_exhausted',
  },
  {
    name: 'zai-model-denied',
    when: { agent: ZAI, code: words(/^(?:1311|1220)$|\n(?:1311|1220)(?:\n|$)/) },
    class: 'auth_denied',
    scope: 'model',
  },
  {
    name: 'zai-fair-use',
    when: {
      agent: ZAI,
      code: words(/^(?:1313|1112|1110|1120|1121)$|\n(?:1313|1112|1110|1120|1121)(?:\n|$)/),
    },
    class: 'auth_denied',
  },
  {
    name: 'zai-policy',
    when: { agent: ZAI, code: words(/^130[01]$|\n130[01](?:\n|$)/) },
    class: 'content_policy',
  },
  {
    name: 'zai-token',
    when: { agent: ZAI, code: words(/^100[0-4]$|\n100[0-4](?:\n|$)|^1111$/) },
    class: 'auth_expired',
  },
  {
    name: 'zai-too-long',
    when: { agent: ZAI, code: words(/^1261$|\n1261(?:\n|$)/) },
    class: 'context_overflow',
  },
  {
    name: 'zai-request',
    when: { agent: ZAI, code: words(/^121\d$|\n121\d(?:\n|$)|^1222$/) },
    class: 'invalid_request',
  },
  // MiniMax: base_resp.status_code
  {
    name: 'minimax-rate',
    when: { agent: MINIMAX, code: words(/^(?:1002|1039|1041)$|\n(?:1002|1039|1041)(?:\n|$)/) },
    class: 'rate_limit',
    byWait: true,
  },
  {
    name: 'minimax-balance',
    when: { agent: MINIMAX, code: words(/^1008$|\n1008(?:\n|$)/) },
    class: 'credits_exhausted',
  },
  {
    name: 'minimax-usage',
    when: { agent: MINIMAX, code: words(/^2056$|\n2056(?:\n|$)/) },
    class: 'usage_limit',
  },
  {
    name: 'minimax-key',
    when: { agent: MINIMAX, code: words(/^(?:1004|2049)$|\n(?:1004|2049)(?:\n|$)/) },
    class: 'auth_denied',
  },
  {
    name: 'minimax-policy',
    when: { agent: MINIMAX, code: words(/^102[67]$|\n102[67](?:\n|$)/) },
    class: 'content_policy',
  },
  {
    name: 'minimax-busy',
    when: { agent: MINIMAX, code: words(/^(?:1000|1013|1024|1033)$|\n(?:1000|1013|1024|1033)(?:\n|$)/) },
    class: 'overloaded',
  },
  // Mistral
  {
    name: 'mistral-rate',
    when: { agent: MISTRAL, code: words(/^1300$|\n1300(?:\n|$)|rate_limited/), not: words(/capacity/) },
    class: 'rate_limit',
    byWait: true,
  },
  {
    name: 'mistral-capacity',
    when: { words: words(/service tier capacity exceeded/) },
    class: 'overloaded',
    scope: 'model',
  },
  // Alibaba: the allocated quota is the plan, the burst is the minute.
  {
    name: 'qwen-allocated',
    when: { words: words(/(?:free )?allocated quota exceeded|oauth quota exceeded|allocationquota/) },
    class: 'usage_limit',
  },
  { name: 'qwen-arrears', when: { agent: QWEN, code: words(/arrearage/) }, class: 'credits_exhausted' },
  // Baidu: error_code
  {
    name: 'baidu-day',
    when: { agent: BAIDU, code: words(/^(?:17|19)$|\n(?:17|19)(?:\n|$)/) },
    class: 'usage_limit',
  },
  {
    name: 'baidu-rate',
    when: { agent: BAIDU, code: words(/^(?:18|336501|336502)$|\n(?:18|336501|336502)(?:\n|$)/) },
    class: 'rate_limit',
    byWait: true,
  },
  {
    name: 'baidu-token',
    when: { agent: BAIDU, code: words(/^(?:110|111)$|\n(?:110|111)(?:\n|$)/) },
    class: 'auth_expired',
  },
  {
    name: 'baidu-busy',
    when: { agent: BAIDU, code: words(/^(?:2|336100)$|\n(?:2|336100)(?:\n|$)/) },
    class: 'overloaded',
  },
  // Bedrock: too many tokens is a throttle here.
  {
    name: 'bedrock-throttle',
    when: {
      words: words(/throttlingexception|too many tokens, please wait/),
      not: words(/per day|daily|for (?:this|the) (?:day|week|month)|monthly/),
    },
    class: 'rate_limit',
    scope: 'model',
    byWait: true,
  },
  {
    name: 'bedrock-expired',
    when: { agent: BEDROCK, code: words(/expiredtoken|unrecognizedclient/) },
    class: 'auth_expired',
  },
];
