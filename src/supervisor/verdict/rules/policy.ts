import type { FailureClass, LimitScope } from '../../../protocol/verdict.js';

/** What a class means for the child, where no rule says otherwise. */
export interface ClassPolicy {
  readonly recoverable: boolean;
  readonly needsUser: boolean;
  readonly scope: LimitScope | null;
}

/** One row per class. */
export const CLASS_POLICY: { readonly [C in FailureClass]: ClassPolicy } = {
  none: { recoverable: false, needsUser: false, scope: null },
  usage_limit: { recoverable: true, needsUser: false, scope: 'account' },
  rate_limit: { recoverable: true, needsUser: false, scope: 'account' },
  credits_exhausted: { recoverable: true, needsUser: true, scope: 'account' },
  overloaded: { recoverable: true, needsUser: false, scope: 'request' },
  stream_interrupted: { recoverable: true, needsUser: false, scope: 'request' },
  network: { recoverable: true, needsUser: false, scope: 'request' },
  auth_expired: { recoverable: true, needsUser: true, scope: 'account' },
  auth_denied: { recoverable: false, needsUser: true, scope: 'account' },
  timeout: { recoverable: true, needsUser: false, scope: 'session' },
  context_overflow: { recoverable: true, needsUser: false, scope: 'session' },
  invalid_request: { recoverable: false, needsUser: true, scope: 'request' },
  content_policy: { recoverable: false, needsUser: true, scope: 'request' },
  process_crash: { recoverable: true, needsUser: false, scope: 'session' },
  cancelled: { recoverable: false, needsUser: false, scope: 'session' },
  unknown: { recoverable: false, needsUser: true, scope: 'session' },
};

/** Classes for which a stated time is the end of the wait. For all others a time in the text means something else. */
export const TIMED: ReadonlySet<FailureClass> = new Set([
  'usage_limit',
  'rate_limit',
  'overloaded',
  'credits_exhausted',
  'stream_interrupted',
  'network',
]);

const MODEL_LIMIT =
  /\b(?:opus|sonnet|haiku|fable|gemini|gpt-[\w.]{1,12}) (?:[\w-]{1,12} ){1,2}limit|(?:opus|sonnet|haiku|fable|fast|claude[ -](?:opus|sonnet|haiku|\d)[\w .-]{0,12}|gpt-?[\w.-]{1,20}|o[134](?:-\w+)?|gemini[\w.-]{0,30}|model|premium model) (?:\d+ )?(?:usage )?(?:quota )?limit|(?:limit|quota|capacity)[^.\n]{0,34}(?:for|on|of) (?:the |this )?(?:model\b|opus|sonnet|haiku|claude(?! (?:messages|code|ai|pro|max|chat))|gpt|o[134]\b|gemini|qwen|glm|kimi|deepseek|llama|mistral|grok|codex)|(?:for|on) (?:this|that|requested|the) model|(?:on|of|for|with|exhausted|reached|exceeded|hit) this model|(?:request|input|output) tokens|tokens per (?:day|minute)|by_?model|per_?model|rate limit reached for \S|switch (?:to another model|models?)|\/model (?:to|for)|switch models|该模型|此模型|当前模型|このモデル|이 모델|the engine|model is|model has|model busy|model currently|capacity available for model|:free(?:\s|$)|for model\b|用户\+模型|user\+model/;
/** A model by its name, as subject or object of a refusal. */
const MODEL_NAME =
  '(?:[\\w.-]{1,30}/)?(?:gpt|claude|gemini|gemma|qwen|glm|kimi|deepseek|llama|mistral|mixtral|devstral|codestral|magistral|grok|opus|sonnet|haiku|o[134]|ernie|doubao|minimax|nova|command|phi)[-.\\d][\\w./:@-]{0,60}';
const MODEL_MEANT = new RegExp(
  `model\\s?[=:]\\s?["']?\\w|访问模型|モデルが|(?:^|\\n)\\W{0,4}(?:${MODEL_NAME}) (?:is|has|was|所有)|(?:access|permission)[^\\n]{0,60}\\bmodel|models?/${MODEL_NAME}|(?:for|on|of) (?:the )?(?:selected |requested |given )?(?:model|deployment)\\b|for the \\[?[\\w.:/-]{2,60}\\]? model|valid model|(?:model|deployment)[^.\\n]{0,40}(?:does not exist|not found|not available|is not (?:valid|supported))`,
);
/** Words that a limit closes the whole account, where the provider's limits are a model's by default. */
const PLAN_LIMIT =
  /account|your current plan|your organi[sz]ation|organi[sz]ation'?s? (?:max|limit)|your rate limit is|free-models/;
const PRODUCT_LIMIT = /for gemini (?:code assist|cli)|upgrade your subscription/;
const MINUTE =
  /per[-_ ]?min(?:ute)?(?![a-z])|per[-_ ]?second|\brpm\b|\btpm\b|tokens\/min|requests\/min|每分钟|1分あたり|분당/;
const MODEL_PROVIDER =
  /google|gemini|vertex|antigravity|bedrock|openai-api|^openai|groq|together|fireworks|azure|cerebras|sambanova|nvidia/;
const HISTORY =
  /surrogate|tool_(?:use|result|call)|tool calls?|encrypted content|tools? limit|thinking block|messages\.\d|roles must alternate|(?:messages?|contents?|input)\[\d|function (?:call|response) turn|conversation|reasoning content|start a new session|session[^\n]{0,60}(?:not found|in use)/;

/** The scope where no rule states it: limits of a model and requests that the history breaks are told by their words. */
export function scopeOf(
  failure: FailureClass,
  words: string,
  agent: string,
  hasStatus: boolean,
): LimitScope | null {
  const policy = CLASS_POLICY[failure].scope;
  switch (failure) {
    case 'usage_limit':
    case 'overloaded':
      return (MODEL_LIMIT.test(words) && !PRODUCT_LIMIT.test(words)) ||
        MODEL_MEANT.test(words) ||
        (failure === 'usage_limit' &&
          /google|gemini|vertex|antigravity|bedrock/.test(agent) &&
          !PRODUCT_LIMIT.test(words))
        ? 'model'
        : policy;
    case 'rate_limit':
      return MODEL_LIMIT.test(words) ||
        MODEL_MEANT.test(words) ||
        ((MODEL_PROVIDER.test(agent) || MINUTE.test(words)) && !PLAN_LIMIT.test(words))
        ? 'model'
        : policy;
    case 'invalid_request':
      return HISTORY.test(words) ? 'session' : MODEL_MEANT.test(words) ? 'model' : policy;
    case 'auth_denied':
      return MODEL_MEANT.test(words) ? 'model' : policy;
    case 'unknown':
      return hasStatus ? 'request' : policy;
    case 'none':
    case 'credits_exhausted':
    case 'stream_interrupted':
    case 'network':
    case 'auth_expired':
    case 'timeout':
    case 'context_overflow':
    case 'content_policy':
    case 'process_crash':
    case 'cancelled':
      return policy;
    default:
      return failure satisfies never;
  }
}
