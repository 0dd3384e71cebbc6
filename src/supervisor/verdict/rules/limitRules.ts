import { lastWords, words, type Rule } from './rule.js';

/** Limits that are none of the provider's: a screen, a heap, a tool list, a context window. */
const OTHER_LIMIT =
  /context|heap|tools?\b|\bturns?\b|file|size|length|memory|disk|inotify|recursion|\bsteps?\b|iteration|retry limit|retries|output|timeout|time limit|character|payload|body|depth|thread|process|stack|not your usage|below|under|well within|within the|concurren|without (?:hit|exceed|reach)|never|if you|上下文|コンテキスト|kontext|contexte|contexto|контекст|速率|频率|并发|レート|요청 속도|debit|tasa|velocidad|taxa|frequen|частот|скорост/;
const RATE = /\brate\b|throttl|per[- ]min|per[- ]second|\brpm\b|\btpm\b|velocit/;
const OVER =
  'hit|reached|exceeded|exceeds|exhausted|used up|used all|spent|maxed(?: out)?|run out of|ran out of|out of|consumed|depleted|surpassed|gone over|went over|over';
const LIMIT = 'limits?|quotas?|caps?|allowances?|allotments?|allocations?|usage';
const NAMED =
  'usage|session|weekly|monthly|daily|hourly|quota|plan|subscription|allowance|premium|messages?|prompts?|free|trial|opus|sonnet|haiku|fable|gpt[\\w.-]*|gemini[\\w.-]*|model|5-?\\s?h(?:ou)?rs?|five-?\\s?hour|spend(?:ing)?|requests?';
const LONG_WINDOW =
  '(?:daily|weekly|monthly|hourly|annual|5-?\\s?h(?:ou)?r|five-?\\s?hour|24-?\\s?h(?:ou)?r|per[- ]?day|per[- ]?week|per[- ]?month|(?:tokens|requests) (?:per|a) (?:day|week|month)|\\btpd\\b|\\brpd\\b)';

/** Named limits of a plan: `usage_limit`. Read before credits and sign-in, whose words they often carry. */
export const usageRules: readonly Rule[] = [
  {
    name: 'consent-for-credits',
    when: { words: words(/limit reached[^\n]{0,60}uses usage credits/) },
    class: 'usage_limit',
    scope: 'model',
    needsUser: true,
  },
  {
    name: 'spend-limit',
    when: {
      words: lastWords(
        /(?:hit|reached|exceeded) (?:your|the|its) (?:[\w']+ ){0,4}spend(?:ing)? (?:limit|cap)[^\n]{0,20}|(?:spend(?:ing)?|usage) limit is set to \$?0|spend(?:ing)? (?:limit|cap) (?:reached|exceeded|hit)/,
      ),
    },
    class: 'usage_limit',
    window: 'monthly',
    needsUser: true,
  },
  {
    name: 'regain-access',
    when: { words: words(/specified (?:workspace )?api usage limits/) },
    class: 'usage_limit',
    window: 'monthly',
  },
  {
    name: 'extra-usage',
    when: { words: lastWords(/out of (?:extra|free|included) usage/) },
    class: 'usage_limit',
  },
  {
    name: 'long-window-rate',
    when: {
      words: lastWords(
        new RegExp(
          `${LONG_WINDOW}[^.\\n]{0,30}?(?:rate|usage|token|request|message)?[ -]?(?:limit|quota)|(?:limit|quota|rate limit|too many (?:tokens|requests))[^\\n]{0,60}?(?:${LONG_WINDOW})`,
        ),
        /context|no (?:daily|weekly)|used \d+|\d ?% of/,
      ),
      not: words(/\d ?% (?:of|used)/),
    },
    class: 'usage_limit',
    needsCorroboration: true,
  },
  {
    name: 'named-limit-hit',
    when: {
      words: lastWords(
        new RegExp(
          `(?<![a-z])(?:${OVER})(?![a-z])[^.\\n;!?·|]{0,64}?(?:(?:${NAMED})[^.\\n;!?·|]{0,24}?)?(?<![a-z])(?:limits?|quotas?|caps?|allowances?|allotments?|allocations?)(?![a-z])`,
        ),
        new RegExp(`${OTHER_LIMIT.source}|${RATE.source}`),
      ),
    },
    class: 'usage_limit',
  },
  {
    name: 'limit-has-been-hit',
    when: {
      words: lastWords(
        new RegExp(
          `(?<![a-z])(?:${LIMIT})(?![a-z])[^.\\n;!?·|]{0,44}?(?<![a-z])(?:reached|hit|exceeded|exhausted|used up|depleted|consumed|spent|maxed out|has been used|have been used|has run out|is (?:full|over|used))(?![a-z])`,
        ),
        new RegExp(`${OTHER_LIMIT.source}|${RATE.source}|resource`),
      ),
    },
    class: 'usage_limit',
  },
  {
    name: 'used-up',
    when: {
      words: lastWords(
        /(?:used (?:up )?(?:all|100 ?%)(?: [\d,.]{1,9})?(?: of)?|used up|(?<![a-z])no (?:more )?|(?<![\w.])0 |ran out of|run out of|out of|consumed all(?: of)?|exhausted)(?: your| the| its)? ?(?:[\w'-]+ ){0,4}?(?:requests|messages|prompts|usage|quota|queries|generations|completions|allowance|flow actions|interactions|acus?|(?:daily|weekly|monthly|free|included|plan) tokens|free allocation)(?: (?:left|remaining|available|for (?:today|this)))?/,
        /credit|context|(?<!have )no (?:usage|quota)(?! (?:left|remaining))|retr(?:y|ies)|output|failed/,
      ),
    },
    class: 'usage_limit',
  },
  {
    name: 'over-for-a-period',
    when: {
      words: lastWords(
        /used (?:up )?(?:your|the|its) (?:[\w'-]+ ){0,3}(?:usage|quota|allowance|requests|messages|prompts|tokens) (?:for|until) |(?<![a-z])(?:run out of|ran out of|out of|used up|used all(?: of)?|exhausted|consumed|no more|no) (?:your |the |all )?(?:[\w'-]+ ){1,4}(?:left |remaining )?(?:for|in|until the end of) (?:this|the|your|today'?s?)(?: current)? ?(?:calendar |billing )?(?:month|week|day|period|cycle)|(?<![a-z])(?:reached|exceeded|exhausted|used up|hit)(?![a-z]) (?:for|until the end of) (?:this|the|today'?s?)(?: current)? ?(?:calendar |billing )?(?:month|week|day|period|cycle)?/,
        /\brate\b|context/,
      ),
    },
    class: 'usage_limit',
  },
  {
    name: 'window-full',
    when: {
      words: lastWords(
        /(?:\d-?\s?h(?:our)?|five-hour|session|daily|weekly|monthly|usage|rolling) window (?:is |has been |was )?(?:full|used up|exhausted|closed|spent|reached)/,
        /context/,
      ),
    },
    class: 'usage_limit',
  },
  {
    name: 'exceeded-usage',
    when: {
      words: lastWords(
        /(?:exceeded|used up|exhausted|gone over|over) (?:your|the|its) (?:[\w-]{1,16} ){0,4}usage(?! polic)(?![a-z])/,
        /\brate\b|context/,
      ),
    },
    class: 'usage_limit',
  },
  {
    name: 'free-usage',
    when: {
      words: lastWords(
        /free (?:tier )?(?:usage|quota|allocated quota|requests?|plan|limit)[^.\n]{0,20}(?:exceeded|exhausted|used|reached|over)/,
      ),
    },
    class: 'usage_limit',
  },
  {
    name: 'quota-will-reset',
    when: {
      words: lastWords(
        /(?:your|the) (?:\w+ )?(?:quota|allowance) (?:will )?(?:resets?|refresh(?:es)?|renews?|be (?:reset|refreshed|restored|refilled)) (?:after|in|at|on)|(?:quota|usage|allowance|limits?) will (?:reset|refresh|renew|be (?:reset|refreshed|restored|refilled)) (?:after|in|at|on|when)/,
        /\brate\b/,
      ),
    },
    class: 'usage_limit',
  },
  {
    name: 'access-resets',
    when: { words: lastWords(/(?:access|limit) resets? (?:at|in|on)/, /\brate\b|throttl/) },
    class: 'usage_limit',
  },
  // 中文
  {
    name: 'zh-usage',
    when: {
      words: lastWords(
        /(?:已?达到?了?|超出|超过|触及|已?用完|用尽|耗尽|用光)[^\n。]{0,24}(?:上限|限额|配额|额度|用量|使用限制|限制)|(?:上限|限额|配额|额度|用量|使用限制|使用量|次数|流量包|套餐)[^\n。,]{0,16}(?:已达|达到|超出|超过|用完|用尽|耗尽|不足|已满|已经?用|用光|超限)|(?:额度|限额|配额)(?:将|会)?[^\n。]{0,28}(?:重置|恢复|刷新)/,
        /速率|频率|并发|上下文|长度|余额|输入|token|请求数过/,
      ),
    },
    class: 'usage_limit',
  },
  // 日本語
  {
    name: 'ja-usage',
    when: {
      words: lastWords(
        /(?:制限|上限|クォータ|クオータ|利用枠|割り当て|回数|使用量)[^\n。]{0,14}(?:達し|到達|超え|超過|使い切|使い果|かかり)|(?:達し|超え)[^\n。]{0,10}(?:上限|制限)/,
        /レート|コンテキスト|文字/,
      ),
    },
    class: 'usage_limit',
  },
  // 한국어
  {
    name: 'ko-usage',
    when: {
      words: lastWords(
        /(?:한도|할당량|쿼터|사용량|제한|횟수)[^\n.]{0,14}(?:도달|초과|소진|넘|사용했|다 썼|다 사용)/,
        /속도|컨텍스트/,
      ),
    },
    class: 'usage_limit',
  },
  // Deutsch, Nederlands, svenska, norsk, dansk
  {
    name: 'de-usage',
    when: {
      words: lastWords(
        /(?:limit|kontingent|obergrenze|grenze|limiet|quota|tegoed|grans|grense|graense|kvot)\S{0,4}[^\n.]{0,30}(?:erreich|uberschr|aufgebrauch|ausgeschopf|erschopf|verbrauch|bereik|overschred|opgebruik|natt|naet|nadd|overskrid|overskred|uppnadd|oppbrukt|brugt op)|(?:natt|nadd|naet|erreich|bereik|uberschritt|overschred)\S{0,6}[^\n.]{0,30}(?:limit|grans|grense|graense|limiet|kontingent|quota)/,
        /kontext|raten|anfragelimit|context/,
      ),
    },
    class: 'usage_limit',
  },
  // français
  {
    name: 'fr-usage',
    when: {
      words: lastWords(
        /(?:limite|quota|plafond|forfait|credit d'utilisation)\S{0,2}[^\n.]{0,34}(?:attein|depass|epuis|consomm)|(?:attein|depass|epuis)\S{0,6}[^\n.]{0,34}(?:limite|quota|plafond)/,
        /debit|contexte|taux/,
      ),
    },
    class: 'usage_limit',
  },
  // español, português, italiano
  {
    name: 'es-usage',
    when: {
      words: lastWords(
        /(?:limite|cuota|cupo|tope|cota|quota|franquia)\S{0,2}[^\n.]{0,34}(?:alcan[zc]|supera|excedi|agot|ating|esgot|ultrapass|raggiun|esauri)|(?:alcan[zc]|supera|excedi|excede|agot|ating|esgot|ultrapass|raggiun|esauri)\S{0,6}[^\n.]{0,34}(?:limite|cuota|cupo|cota|quota)/,
        /tasa|velocidad|taxa|contexto|contesto|frequen/,
      ),
    },
    class: 'usage_limit',
  },
  // русский, українська, polski
  {
    name: 'ru-usage',
    when: {
      words: lastWords(
        /(?:лимит|квот|ограничени|ліміт)\S{0,3}[^\n.]{0,40}(?:исчерп|достиг|превы[сш]|израсход|законч|вичерп|досяг|перевищ)|(?:исчерп|достиг|превы[сш]|израсход|вичерп|досяг|перевищ)\S{0,6}[^\n.]{0,40}(?:лимит|квот|ліміт)|limit\S{0,3}[^\n.]{0,30}(?:osiagn|wyczerp|przekrocz)|(?:osiagn|wyczerp|przekrocz)\S{0,6}[^\n.]{0,30}limit|(?:limit|kvot)\S{0,3}[^\n.]{0,24}(?:dosazen|vycerp|prekroc)|(?:elerte|tullepte)[^\n.]{0,24}(?:korlat|limit|keret)/,
        /частот|скорост|контекст|запросов в/,
      ),
    },
    class: 'usage_limit',
  },
  // العربية, فارسی, Türkçe, Tiếng Việt, Bahasa Indonesia, हिन्दी, ไทย
  {
    name: 'more-usage',
    when: {
      words: lastWords(
        /(?:تجاوز|بلوغ|استنفاد)[^\n.]{0,20}(?:حد|الحد|حصة)|(?:حد|الحد|حصة|حصتك|الحصة|سقف|سهمیه)[^\n.]{0,30}(?:بلغ|وصل|تجاوز|استنفد|نفد|انته|رسید)|(?:بلغت|وصلت|تجاوزت|استنفدت|لقد وصلت)[^\n.]{0,30}(?:حد|الحد|حصة)|(?:limit|kota)\S{0,8}[^\n.]{0,24}(?:ulas|doldu|asil|tukend|bitti)|(?:gioi han|han muc|quota)[^\n.]{0,24}(?:dat|vuot|het)|(?:dat|vuot|het)[^\n.]{0,24}(?:gioi han|han muc)|(?:batas|kuota)[^\n.]{0,24}(?:tercapai|habis|melebihi|terlampaui)|(?:mencapai|melebihi)[^\n.]{0,20}(?:batas|kuota)|(?:सीमा|कोटा)[^\n]{0,24}(?:पहुंच|पहुँच|समाप्त|पार)|(?:ถึง|เกิน)[^\n]{0,20}(?:ขีดจำกัด|โควต้า)/,
      ),
    },
    class: 'usage_limit',
  },
];

/** Limits of a short window that say what they are, and that another layer may have dressed as a refusal. */
export const shortLimitRules: readonly Rule[] = [
  {
    name: 'denied-usage-limit',
    when: { words: words(/not your usage limit|temporarily limiting requests/) },
    class: 'rate_limit',
    scope: 'request',
  },
  {
    name: 'per-minute',
    when: {
      words: words(
        /per[- ]?min(?:ute)?\b|per[- ]?second|perminute|\brpm\b|\btpm\b|\bqps\b|tokens\/min|requests\/min|每分钟|1分あたり|분당/,
      ),
      not: words(/per[- ]?day|perday|\btpd\b|\brpd\b/),
    },
    class: 'rate_limit',
    window: 'minute',
    needsCorroboration: true,
  },
  {
    name: 'rate-limited-here',
    when: {
      words: words(
        /(?:been|being|are|is|was|got|get|currently|temporarily|you're) (?:temporarily |currently )?(?:(?:rate|speed|request)[- ]?limited|throttled)|(?:hit|reached|exceeded|exhausted|used up)[^.\n]{0,30}rate limit|rate[- ]?limit(?:s|ed|ing)?[^.\n]{0,40}(?:exceeded|reached|hit|error|due to)/,
      ),
    },
    class: 'rate_limit',
    byWait: true,
  },
];

/** Limits of a short window, and limits without a name, which the length of the wait decides. */
export const rateRules: readonly Rule[] = [
  {
    name: 'too-many',
    when: {
      words: words(
        /too many (?:concurrent )?(?:requests|tokens|connections|calls)|request was throttled|throttl(?:ed|ing)|slow down|requests? (?:rate )?too (?:high|fast|frequent)|sending requests too|exceeded retry limit, last status: 429|concurren\w+ (?:request )?(?:limit|quota)[^.\n]{0,30}|request rejected \(429\)|请求过于频繁|请求频率|请求过多|访问频率|速率限制|频率限制|限流|并发|過於頻繁|レート制限|リクエストが多すぎ|リクエスト数|요청이 너무 많|속도 제한|요청 한도|zu viele anfragen|ratenlimit|anfragelimit|ratenbegrenzung|trop de requetes|limite de debit|demasiadas (?:solicitudes|peticiones)|limite de (?:tasa|velocidad|taxa|frequencia)|muitas (?:solicitacoes|requisicoes)|troppe richieste|limite di frequenza|слишком много запросов|частот\S{0,4} запрос|забагато запитів|طلبات كثيرة|الكثير من الطلبات|cok fazla istek|zbyt wiele (?:zadan|zapytan)|te veel (?:verzoeken|aanvragen)|for manga forfragningar|qua nhieu yeu cau|terlalu banyak permintaan/,
      ),
    },
    class: 'rate_limit',
    byWait: true,
  },
  {
    name: 'rate-limit',
    when: {
      words: words(
        /rate[- _]?limit|limit(?:e|ing) requests|requests? (?:is|are|was|were|being)? ?limited|resource (?:has been |is )?exhausted|exhausted your capacity|exceeded your (?:current )?(?:token )?quota|quota (?:limitations|exceeded)|\bquota\b/,
        /reset|context/,
      ),
    },
    class: 'rate_limit',
    byWait: true,
    needsCorroboration: true,
  },
];
