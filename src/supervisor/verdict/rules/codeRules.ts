import { words, type Rule } from './rule.js';

/** Codes that settle the class whatever the message says. Codes come one a line, in lower case. */
export const strongCodeRules: readonly Rule[] = [
  {
    name: 'code-plan-lacks-it',
    when: {
      code: words(
        /usage_not_included|unsupported_country|access_terminated|country_not_supported|organization_disabled|account_(?:deactivated|suspended|disabled)|user_banned/,
      ),
      not: words(/(?:usage|weekly|daily|monthly|session|\d-?hour) limit|quota will/),
    },
    class: 'auth_denied',
  },
  {
    name: 'code-context',
    when: {
      code: words(
        /context_length_exceeded|contextoverflow|prompt_too_long|request_too_large|contextwindowexceeded|context_window_exceeded|string_above_max_length|contextlengthexceeded|max_context_length|input_too_long|context_overflow/,
      ),
    },
    class: 'context_overflow',
  },
  {
    name: 'code-policy',
    when: {
      code: words(
        /content_filter|content_policy|contentpolicy|^refusal$|\nrefusal(?:\n|$)|responsibleaipolicy|data_inspection_failed|datainspectionfailed|prohibited_content|^safety$|\nsafety(?:\n|$)|blocklist|recitation|^spii$|\nspii(?:\n|$)|image_safety|content_moderation|moderation_blocked|safety_block|guardrail_intervened|sensitive_content/,
      ),
    },
    class: 'content_policy',
  },
  {
    name: 'code-per-day',
    when: { code: words(/per_?day|requests?_?per_?day|daily_?(?:limit|quota)|free-models-per-day/) },
    class: 'usage_limit',
    timeless: true,
  },
  {
    name: 'code-usage',
    when: {
      code: words(
        /usage_?limit|usagelimit|free-usage-exhausted|free_usage|allocationquota|allocation_quota|quota_exhausted|(?:weekly|monthly|session|five_hour|5h)_?(?:limit|quota)|subscription_quota|plan_limit|premium_request_limit|user_(?:weekly|global|model)_rate_limited|quota_limit_reached/,
      ),
    },
    class: 'usage_limit',
  },
  {
    name: 'code-credits',
    when: {
      code: words(
        /insufficient_?quota|insufficient_?(?:balance|credits?|funds)|billing_(?:error|hard|not_active|limit)|payment_required|paymentrequired|exceeded_current_quota|arrearage|credits?_(?:exhausted|depleted|required)|creditserror|out_of_credits|balance_(?:not_enough|insufficient|exhausted)|no_credits|budget_?exceeded|prepaid_bill_overdue|postpaid_bill_overdue/,
      ),
    },
    class: 'credits_exhausted',
  },
  {
    name: 'code-per-minute',
    when: { code: words(/per_?min(?:ute)?|throttling\.ratequota|throttling\.burstrate|burst_rate/) },
    class: 'rate_limit',
    window: 'minute',
    scope: 'model',
  },
  {
    name: 'code-capacity',
    when: {
      code: words(
        /model_capacity_exhausted|engine_overloaded|overloaded_error|server_is_overloaded|modelnotready/,
      ),
    },
    class: 'overloaded',
  },
  {
    name: 'code-aborted',
    when: {
      code: words(
        /messageabortederror|^aborterror|\naborterror|fatalcancellation|aborted_(?:streaming|tools)|user_cancell?ed|user_aborted|^cancell?ed$|\ncancell?ed(?:\n|$)|^interrupted$|\ninterrupted(?:\n|$)/,
      ),
    },
    class: 'cancelled',
  },
  {
    name: 'code-turns',
    when: { code: words(/max_turns|turnlimited|max_turn_requests|max_session_turns/) },
    class: 'unknown',
    recoverable: true,
    needsUser: false,
    scope: 'session',
  },
  {
    name: 'code-local-budget',
    when: { code: words(/max_budget/) },
    class: 'unknown',
    recoverable: true,
    needsUser: true,
    scope: 'session',
  },
];

/** Codes that say the kind; the message was asked first. */
export const codeRules: readonly Rule[] = [
  {
    name: 'code-expired',
    when: {
      code: words(
        /token_?expired|expiredtoken|oauth_token|invalid_authentication|authentication_error|authenticationerror|auth_required|authrequired|unauthenticated|unauthorized|unrecognizedclient|invalid_token|invalid_grant|login_required|provider\.auth_error|authentication_failed|session_expired/,
      ),
    },
    class: 'auth_expired',
  },
  {
    name: 'code-denied',
    when: {
      code: words(
        /permission_?(?:error|denied)|permissiondenied|invalid_api_key|accessdenied|access_denied|request_forbidden|^forbidden$|\nforbidden(?:\n|$)|not_authorized|insufficient_permissions|validation_required|model_not_allowed|invalidapikey/,
      ),
    },
    class: 'auth_denied',
  },
  {
    name: 'code-rate',
    when: {
      code: words(
        /rate_?-?limit|ratelimit|throttl|too_?many_?requests|resource_?exhausted|requestlimitexceeded|slow_?down|concurrency_limit|concurrent_request|quota_?exceeded|limit_exceeded|\b429\b/,
      ),
    },
    class: 'rate_limit',
    byWait: true,
  },
  {
    name: 'code-overloaded',
    when: {
      code: words(
        /overload|service_?unavailable|serviceunavailable|^unavailable$|\nunavailable(?:\n|$)|internalserver|internal_server|server_error|modeltimeout|model_error|timeout_error|gateway|^internal$|\ninternal(?:\n|$)|provider\.overloaded|capacity|api_error_5|upstream_error|backend_error/,
      ),
    },
    class: 'overloaded',
  },
  {
    name: 'code-stream',
    when: {
      code: words(
        /econnreset|epipe|und_err_socket|stream_(?:error|read|idle|closed)|connection_(?:failed|lost|closed|error)|streaming_error|premature_close|modelstreamerror|err_stream/,
      ),
    },
    class: 'stream_interrupted',
  },
  {
    name: 'code-network',
    when: {
      code: words(
        /enotfound|eai_again|econnrefused|etimedout|ehostunreach|enetunreach|api_connection|apiconnection|connect_timeout|network_error|connection_refused|dns_/,
      ),
    },
    class: 'network',
  },
];

/** Codes that nearly everything carries; the last to be asked. */
export const lastCodeRules: readonly Rule[] = [
  {
    name: 'code-model',
    when: { code: words(/model_?not_?found|modelnotfound|not_found_error|resourcenotfound/) },
    class: 'invalid_request',
    scope: 'model',
  },
  {
    name: 'code-invalid',
    when: {
      code: words(
        /invalid_?(?:request|argument|parameter|prompt|params|value|type)|invalid\.|validation(?:_error|exception|error)|bad_?request|unprocessable|failed_precondition|unsupported_|missing_required|fatalinput|fatalconfig/,
      ),
    },
    class: 'invalid_request',
  },
  { name: 'code-timeout', when: { code: words(/timeout|timed_out|deadline_exceeded/) }, class: 'timeout' },
  {
    name: 'code-api-error',
    when: { code: words(/^api_error$|\napi_error(?:\n|$)|server_error/) },
    class: 'overloaded',
  },
];

/** The HTTP status, when neither message nor code said more. */
export const statusRules: readonly Rule[] = [
  { name: 'status-401', when: { status: [401] }, class: 'auth_expired' },
  { name: 'status-402', when: { status: [402] }, class: 'credits_exhausted' },
  { name: 'status-403', when: { status: [403] }, class: 'auth_denied' },
  { name: 'status-407', when: { status: [407] }, class: 'network', needsUser: true, scope: 'account' },
  { name: 'status-408', when: { status: [408] }, class: 'network' },
  { name: 'status-413', when: { status: [413] }, class: 'context_overflow' },
  { name: 'status-429', when: { status: [429] }, class: 'rate_limit', byWait: true },
  { name: 'status-451', when: { status: [451] }, class: 'auth_denied' },
  { name: 'status-499', when: { status: [499] }, class: 'cancelled' },
  {
    name: 'status-4xx',
    when: { status: [400, 404, 405, 406, 409, 410, 411, 412, 414, 415, 417, 421, 422, 424, 426, 428, 431] },
    class: 'invalid_request',
  },
  {
    name: 'status-5xx',
    when: { status: [500, 502, 503, 504, 507, 508, 520, 521, 522, 523, 524, 525, 527, 529, 530, 598, 599] },
    class: 'overloaded',
  },
];
