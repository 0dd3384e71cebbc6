import { words, type Rule } from './rule.js';

/** What comes before every limit: failures whose messages borrow the words of limits. */
export const firstRules: readonly Rule[] = [
  {
    name: 'turns-used-up',
    when: {
      words: words(
        /(?:reached|exceeded|hit) (?:the )?max(?:imum)?(?: number of| allowed)? (?:iterations?|turns?|steps?|rounds?|tool calls)|max(?:imum)? (?:iterations?|turns?|steps?) (?:reached|exceeded)/,
      ),
    },
    class: 'unknown',
    recoverable: true,
    needsUser: false,
    scope: 'session',
  },
  {
    name: 'request-larger-than-window',
    when: { words: words(/request too large for|requested tokens exceed the (?:minute|limit)/) },
    class: 'context_overflow',
  },
  {
    name: 'context-words',
    when: {
      words: words(
        /maximum context (?:length|window)|range of input length|number of tokens[^.\n]{0,40}(?:exceed|greater than|larger than)|tokens in the prompt (?:cannot|exceed|must)|context (?:length|window|limit|size)[^.\n]{0,50}(?:exceed|reached|full|overflow|limit|too|hit|over|ran out)|exceed\w*[^.\n]{0,40}(?:context|maximum (?:number of )?(?:input )?tokens|token limit|max(?:imum)? (?:input|prompt) (?:length|tokens))|(?:prompt|input|conversation|request|message|messages|transcript|history)s?(?: \w+){0,3} (?:is|are|was)? ?too (?:long|large|big)|ran out of room in the model'?s? context|input token count[^.\n]{0,40}exceed|(?:reduce|shorten) the length of (?:the |your )?(?:messages|prompt|input)|too many (?:input )?tokens in|(?:larger|longer|greater) than the (?:model'?s? )?(?:context|maximum|max)|exceed\w*[^.\n]{0,30}tokens?[- ](?:window|budget)|max(?:imum)? (?:input |context |prompt )?tokens(?: of)?[^\n]{0,20}exceed|exceed\w*[^.\n]{0,20}max(?:imum)? tokens|string too long|max(?:imum)? (?:prompt|input) (?:length|size)|n_ctx|context (?:the )?overflow|loaded with context length|exhaust\w* (?:the )?context|hit (?:a|the|its) token limit|exceeds the (?:available )?context|input length[^.\n]{0,40}exceed|context_length|maximum number of tokens allowed|payload too large|request entity too large|exceeds the maximum (?:allowed )?(?:number of bytes|size|length)|上下文[^\n。]{0,16}(?:超|过长|限制|长度|窗口)|(?:输入|提示词|请求)[^\n。]{0,8}(?:过长|太长|超长|超出最大长度)|コンテキスト[^\n。]{0,16}(?:超|上限|長)|입력[^\n.]{0,8}(?:너무 깁|길이)|컨텍스트[^\n.]{0,12}(?:초과|한도)|kontext(?:fenster|lange)?[^\n.]{0,30}(?:uberschritten|voll|zu lang)|(?:fenetre|longueur) de contexte|(?:ventana|longitud|janela) de contexto|контекст\S{0,3}[^\n.]{0,24}(?:превыш|перепол|слишком)/,
      ),
      not: words(/rate limit|per minute|throttl|daily/),
    },
    class: 'context_overflow',
  },
  {
    name: 'fair-use',
    when: {
      words: words(
        /fair[- ]us(?:e|age) policy|acceptable use policy[^.\n]{0,40}(?:suspend|restrict)|(?:account|organi[sz]ation|workspace|project|team|api key|user) (?:has been |is |was |have been )?(?:currently |temporarily )?(?:suspended|banned|disabled|deactivated|terminated|blocked|locked|restricted)|账[号户](?:已|被|存在)?(?:封|禁|锁|停)|アカウントが(?:停止|凍結)/,
      ),
    },
    class: 'auth_denied',
  },
  {
    name: 'policy-new-session',
    when: {
      words: words(
        /violate our usage policy[^\n]{0,600}(?:double press esc|start a new session)|can't help with this\. start a new session/,
      ),
    },
    class: 'content_policy',
    scope: 'session',
  },
  {
    name: 'policy-words',
    when: {
      words: words(
        /content (?:exists? )?risk|violat\w+ (?:of )?(?:our|the|openai'?s?|anthropic'?s?|google'?s?|microsoft'?s?|\w+'s)? ?(?:usage|content|safety|use)? ?polic|usage polic(?:y|ies)|content (?:management |moderation )?policy|content[_ ]filter|flagged (?:as|by|for)|input was flagged|requires moderation|safety (?:policy|system|reasons|filters?|concerns?)|moderation|responsible ai|prohibited (?:content|use)|(?:response|request|prompt|output|content) (?:was |has been |is )?(?:blocked|filtered|refused|rejected) (?:by|due to|because of|for) (?:\w+ ){0,3}(?:safety|content|policy|filter|moderation|guardrail)|guardrail|harmful content|can't (?:help|assist) with (?:this|that)|inappropriate content|data may contain inappropriate|敏感内容|不安全|违规|内容审核|合规|安全审查|コンテンツポリシー|安全上の理由|콘텐츠 정책|inhaltsrichtlinie|politique d'utilisation|politica de (?:uso|contenido|conteudo)|политик\S{0,2} (?:использования|безопасности|контента)/,
      ),
      not: words(/rate limit polic|fair/),
    },
    class: 'content_policy',
  },
  {
    name: 'tls',
    when: {
      words: words(
        /self[- _]signed[- _]cert|certificate (?:has expired|verif\w{1,8} failed|is not trusted|chain|signed by unknown)|unable to (?:verify the first|get local issuer) certificate|cert_has_expired|err_tls_cert|unable_to_verify_leaf|depth_zero_self|ssl certificate problem|x509|certificate_verify_failed|tls handshake (?:failed|error)[^\n]{0,40}cert/,
      ),
    },
    class: 'network',
    needsUser: true,
    scope: 'account',
  },
  {
    name: 'proxy-sign-in',
    when: { words: words(/proxy auth\w+ (?:required|failed|error)|407 proxy|status(?: code)?:? 407/) },
    class: 'network',
    needsUser: true,
    scope: 'account',
  },
  {
    name: 'plan-without-it',
    when: {
      words: words(
        /limit: 0(?![.\d])|has been discontinued|no longer (?:available|supported) (?:for|on|in) (?:your|free)|to use [\w .-]{1,40} with your [\w ]{1,30} plan, upgrade|upgrade to (?:plus|pro)\b[^.\n]{0,20}(?:to use|https?:)|not included in your (?:\w+ )?(?:plan|subscription)|(?:plan|subscription|tier|account)(?: \w+){0,3} (?:does not|doesn't|do not) (?:include|support|have access|allow)|can only be used (?:from|with|within|in)|only authorized for use with|not (?:enabled|available|supported|included) (?:with|for|on|in|under) (?:the|your|this|a) (?:\w+ ){0,3}plan|not (?:enabled|available|supported) (?:for|on|in) (?:your|this) (?:\w+ )?(?:account|organi[sz]ation|plan|region|country|workspace|location|subscription|tier)|access paused|(?:country|region|territory|location)[^.\n]{0,40}not supported|unsupported_country|not available in your (?:country|region|location)|restricted region|blocked by cloudflare|未开放|暂未开放|无权|没有权限|未开通|不支持(?:该|当前)?(?:地区|套餐)|当前.{0,10}套餐.{0,10}(?:不|未)/,
      ),
      not: words(/you've hit your usage limit|hit your usage/),
    },
    class: 'auth_denied',
  },
];

/** Money. Read before usage limits, but with words that are only about money. */
export const creditRules: readonly Rule[] = [
  {
    name: 'credits-for-feature',
    when: { words: words(/usage credits required/) },
    class: 'credits_exhausted',
    scope: 'model',
  },
  {
    name: 'used-all-credits',
    when: {
      words: words(
        /(?:used|spent|consumed|exhausted|run out of|ran out of|out of|used up)(?: up)?(?: all)?(?: of)?(?: your| available| the| its| my)*(?: \w+){0,2} credits?(?! card)|credits? (?:balance )?(?:\w+ )?(?:is |are |has been |have been |was )?(?:too low|exhausted|depleted|used up|insufficient|empty|expired|run out|spent|not enough|below|zero|negative)|(?:insufficient|not enough|\bno|(?<![\w.])0) (?:\w+ ){0,2}(?:credits?|balance|funds?|tokens balance)\b(?! card| (?:was |were |are |is )?(?:consumed|charged|deducted|spent|used))|credit balance|requires more credits|can only afford|out of credits|add (?:more )?credits|credit limit (?:reached|exceeded)|credits? required/,
        /usage-credits to (?:continue|adjust)|extra usage/,
      ),
      not: words(/(?:usage|session|weekly|daily) limit|'ve (?:hit|reached) your/),
    },
    class: 'credits_exhausted',
  },
  {
    name: 'balance',
    when: {
      words: words(
        /insufficient[_ -]?(?:balance|funds|credit|quota|user quota)|(?:account|current|wallet|available) balance[^.\n]{0,30}(?:insufficient|too low|not enough|negative|is 0|is zero|below|exhausted)|check your (?:account )?(?:balance|plan and billing)|payment (?:is )?required|payment (?:failed|declined|overdue)|(?:add|update|valid|missing|no|set up)(?: \w+){0,2} payment method|payment method (?:is |was |has )?(?:\w+ )?(?:declined|expired|failed|required|missing|invalid)|past due|unpaid invoice|overdue (?:invoice|balance|payment)|in arrears|arrearage|billing (?:hard )?limit|hard limit has been reached|billing (?:is )?(?:not (?:active|enabled)|disabled|inactive)|budget (?:has been )?(?:exceeded|limit)|(?:reached|exceeded|hit|used up) (?:your|the) (?:\w{1,14} ){0,2}budget|exceeded (?:your |the )?(?:\w+ )?budget|max budget|top[- ]?up|recharge your|please recharge|(?:membership|subscription|plan|trial|license) (?:has |is |was )?(?:expired|ended|lapsed|cancell?ed)|renew your (?:plan|subscription|membership)|余额不足|余额已|欠费|充值|套餐已?(?:到期|过期)|续费|续订|账户余额|资源包(?:已|余)|残高|クレジットが(?:不足|なく|ありません)|チャージして|잔액|크레딧[^\n.]{0,10}(?:부족|소진)|충전|guthaben[^\n.]{0,24}(?:aufgebraucht|reicht|erschopft|niedrig)|solde (?:insuffisant|epuise)|credits? (?:insuffisants?|epuises?)|saldo insuf|creditos? (?:insuf|agotad|esgotad)|sin (?:creditos|saldo)|sem (?:creditos|saldo)|credito (?:insufficiente|esaurito)|недостаточно средств|пополните|баланс\S{0,2} (?:исчерпан|недостат|отрицат)|رصيد|kredi(?:niz)? (?:yetersiz|bitti)|niewystarczajace srodki|onvoldoende (?:tegoed|saldo)/,
      ),
      not: words(
        /throttl|rate limit (?:for|of|on)|retry in|(?:retry|reset)\w* (?:in|after) \d|(?:usage|session|weekly|daily) limit|per[- ]?minute|allocated quota/,
      ),
    },
    class: 'credits_exhausted',
  },
];

/** Sign-in and permission. */
export const authRules: readonly Rule[] = [
  { name: 'needs-scope', when: { words: words(/does not meet scope requirement/) }, class: 'auth_expired' },
  {
    name: 'no-model-access',
    when: {
      words: words(
        /(?:don't|do not|does not|doesn't) have access to (?:the |this )?model|no access to model|not (?:have )?access to (?:the )?model|not allowed to (?:use|access) (?:the |this )?model|model access (?:is )?denied/,
      ),
    },
    class: 'auth_denied',
    scope: 'model',
  },
  {
    name: 'wrong-key',
    when: {
      words: words(
        /(?:invalid|incorrect|wrong|bad|malformed|missing|unknown|revoked|no|expired|disabled|not valid) (?:\w+ ){0,2}(?:x-)?api[- _]?key|api[- _]?key (?:\w+ ){0,3}?(?:is |was |has been )?(?:not valid|invalid|incorrect|missing|not found|revoked|disabled|expired|wrong|required|not set|does not exist|is not set)|invalid_api_key|api[- _]?key: ?\S{1,80} (?:is |was )?(?:not valid|invalid|incorrect|revoked|expired|disabled)|no auth credentials found|(?:did not|didn't) provide an api key|no api key (?:found|provided|was provided)|user not found|missing scopes?|(?:does not|doesn't|do not|don't) have (?:\w+ ){0,3}(?:permission|access|authori[sz]ation)|not authori[sz]ed|permission[- _]denied|access[- _]?denied|insufficient (?:permissions?|scope|privileges)|forbidden|belongs to a disabled|organization has (?:been )?disabled|has disabled|not allowed to|validation required|verify your (?:account|organization|phone|identity)|must be verified|api key 无效|密钥无效|无效的(?:api|密钥|令牌)|令牌无效|权限不足|apiキーが(?:無効|正しく)|잘못된 api|ungultiger api|cle api (?:invalide|incorrecte)|clave (?:de )?api (?:no valida|invalida)|chave (?:de )?api invalida|неверныи (?:api|ключ)|invalid or expired (?:api )?key/,
      ),
      not: words(
        /eacces|eperm|errno 13|open '|oauth|log ?in again|sign(?:ing)? in again|refresh token|expired (?:or invalid )?·|session (?:has |may have )?expired|access to the model/,
      ),
    },
    class: 'auth_denied',
  },
  {
    name: 'sign-in-again',
    when: {
      words: words(
        /(?:token|session|login|log-in|sign-in|credentials?|sso|authentication|authorization|cookie|access)s? (?:\w+ ){0,3}?(?:(?:has |have |is |was |been |may have |could not be )*)(?:expired|revoked|refreshed|invalidated|no longer valid|timed out)|(?:expired|revoked|stale) (?:\w+ ){0,2}(?:token|session|login|credentials?)|not (?:logged|signed) in|(?:unable to locate|could not (?:load|find)|no|missing) (?:\w{1,12} )?credentials|credentials? (?:were |was )?not (?:found|set|configured)|(?:please )?(?:run|use|type|send|enter|try) [`'"]?(?:\/login|\w+ (?:auth )?login|\w+ auth)|log(?:ging)? ?(?:out and|in) ?(?:sign in |log in )?again|sign(?:ing)? in again|re-?authenticat|(?:must|need to|have to|please) (?:log|sign) ?in|login required|authentication required|(?:failed to|could not|cannot) (?:refresh|authenticate)|refresh token|authorization failed|failed to login|unauthenticated|invalid (?:authentication|bearer|access) ?(?:credentials|token)?|invalid[_ ]grant|unauthorized|not authenticated|authentication (?:failed|error)|could not resolve authentication|security token included in the request is (?:expired|invalid)|expired ?token|bad credentials|(?:token|令牌|凭证|登录|会话|身份)[^\n。]{0,8}(?:已?过期|失效)|未登录|请(?:重新)?登录|认证失败|身份验证失败|鉴权失败|再ログイン|ログインし|認証(?:に失敗|エラー|の有効期限)|トークンの有効期限|다시 로그인|로그인이? 필요|인증[^\n.]{0,8}(?:실패|만료)|토큰[^\n.]{0,8}만료|(?:erneut|neu) anmelden|anmeldung (?:ist )?abgelaufen|sitzung (?:ist )?abgelaufen|(?:session|jeton|connexion) (?:a )?expiree?(?![a-z])|reconnectez|(?:sesion|token|sessao|sessione|credenciales) (?:ha |ha )?(?:caducad|expirad|vencid|scadut)|inicie? sesion|faca login|accedi di nuovo|(?:сессия|токен|сеанс)\S{0,2} (?:истек|устарел|недеиствит)|воидите|авторизу|انتهت صلاحية|تسجيل الدخول|oturum(?:unuz)? (?:suresi )?(?:doldu|sona)|sesja wygasla|sessie (?:is )?verlopen/,
      ),
    },
    class: 'auth_expired',
  },
];

/** What is left: the provider, the wire, the process, the request. */
export const restRules: readonly Rule[] = [
  {
    name: 'model-not-found',
    when: {
      words: words(
        /issue with the selected model|may not exist or you may not have access|model(?: \S{1,60})? (?:was )?(?:not found|does not exist|is not available|not supported|is not supported|not exist|unavailable in)|unknown model|no such model|invalid model|unsupported model|model[_ ]not[_ ](?:found|available|supported)|no endpoints found|模型不存在|未找到模型|モデルが(?:見つかり|存在し)|with on-demand throughput isn't supported/,
      ),
    },
    class: 'invalid_request',
    scope: 'model',
  },
  {
    name: 'stream-reset',
    when: {
      words: words(
        /stream error: stream id|http2: (?:server|client|stream|framer)|rst_stream|goaway|err_http2/,
      ),
    },
    class: 'stream_interrupted',
  },
  {
    name: 'overloaded',
    when: {
      words: words(
        /overload|at capacity|no capacity|capacity (?:exceeded|exhausted|constraints|issues|errors?)|out of capacity|too much traffic|high (?:demand|load|traffic|volume)|heavy (?:load|traffic)|(?:service|server|system|model|engine|backend|upstream|endpoint)s? (?:is |are |was |temporarily |currently )*(?:unavailable|busy|not available|down)|(?:temporarily|currently) (?:unavailable|busy|out of service)|service[- _]?unavailable|internal[- _](?:server[- _])?error|server[- _]error|bad gateway|gateway time-?out|unable to process your request|(?:server|upstream) (?:had|encountered|returned) an (?:unexpected )?error|the (?:server|engine|model) (?:is|has)[^.\n]{0,40}(?:busy|error)|error (?:occurred )?while processing your request|origin (?:timed out|is unreachable)|model is (?:still )?loading|cold start|under maintenance|(?:访问量|请求量|流量)过大|(?:服务|系统|服务器|模型)(?:器|端)?(?:当前)?(?:繁忙|过载|不可用|暂时不可用|忙)|负载(?:较|过|太|很)?高|高负载|网络错误,错误id|内部错误|服务异常|過負荷|混雑|混み合|サーバー(?:が|は)?(?:ビジー|エラー|利用でき)|一時的に利用でき|과부하|혼잡|서버 (?:오류|에러)|일시적으로 사용할 수 없|uberlastet|uberlastung|(?:voruber)?gehend nicht verfugbar|surcharge|temporairement indisponible|sobrecarga|no disponible temporalmente|temporalmente no disponible|temporariamente indisponivel|sovraccaric|temporaneamente non disponibile|перегруж|временно недоступ|перевантаж|مشغول|محمل|yogun|przeciazon|overbelast|overbelastad|qua tai|kelebihan beban/,
        /memory|heap/,
      ),
      not: words(/other side closed|internal error; agent|unexpected exception/),
    },
    class: 'overloaded',
  },
  {
    name: 'stream-cut',
    when: {
      words: words(
        /error (?:in|reading|while reading|during|decoding) (?:the )?(?:\w{1,12} )?stream|stream (?:disconnected|closed|ended|error|interrupted|idle|timed? ?out|was (?:closed|interrupted|aborted)|stalled|broken|reset|terminated|cut)|(?:connection|socket)(?: \w+){0,3} (?:was |has been |is )?(?:closed|reset|lost|dropped|aborted|hang|hung|terminated|interrupted|cut)(?! to connect)|lost (?:the )?connection|connection (?:to \S+ )?(?:to the api )?was lost|socket hang ?up|premature(?:ly)? (?:close|end|eof)|(?:closed|ended) prematurely|unexpected (?:eof|end of (?:file|stream|data|json input|input))|mid-?(?:response|stream)|response stopped arriving|incomplete (?:chunked|read|response|stream)|chunked read|econnreset|epipe|err_stream|und_err_socket|other side closed|broken pipe|empty (?:or malformed )?(?:response|stream|completion)|returned an empty|no (?:chunks|data|content|events?) (?:received|for)|(?:produced|received) no (?:content|data|chunks|events)|network error: error decoding|error decoding response body|payload is not completed|response (?:is |was )?(?:not completed|incomplete)|transfer (?:closed|interrupted)|transport error|peer closed|remote end closed|server disconnected|provider disconnected|sse (?:stream|connection|error)|idle timeout|terminated early|response ended|err_http2|goaway|rst_stream|stream error|connection error\b(?=[^.]{0,30}stream)|流(?:式)?(?:中断|断开|异常)|连接(?:被)?(?:重置|中断|断开|关闭)|ストリームが|接続が(?:切断|リセット|閉じ)|스트림|연결이 (?:끊|재설정|종료)|verbindung (?:wurde )?(?:unterbrochen|getrennt|zuruckgesetzt|geschlossen|verloren)|connexion (?:interrompue|perdue|reinitialisee|fermee)|conexion (?:interrumpida|perdida|cerrada|restablecida)|conexao (?:interrompida|perdida|encerrada|redefinida)|connessione (?:interrotta|persa|chiusa)|соединение (?:прервано|разорвано|сброшено|потеряно|закрыто)|поток прерван/,
      ),
      not: words(/mcp server|api key/),
    },
    class: 'stream_interrupted',
  },
  {
    name: 'terminated',
    when: {
      words: words(/(?:^|\n|typeerror: |error: |connection_error: )\[?(?:api error: )?terminated\]?(?:\s|$)/),
    },
    class: 'stream_interrupted',
  },
  {
    name: 'empty-gateway',
    when: {
      words: words(
        /check for a proxy|proxy or gateway intercepting|captive portal|unexpected token '?<|<!doctype html|<html/,
      ),
    },
    class: 'network',
    needsUser: true,
  },
  {
    name: 'no-network',
    when: {
      words: words(
        /enotfound|eai_again|econnrefused|econnaborted|ehostunreach|enetunreach|enetdown|etimedout|err_internet_disconnected|err_network|err_name_not_resolved|connectionrefused|connect timeout|und_err_connect|getaddrinfo|name or service not known|nodename nor servname|temporary failure in name resolution|could not resolve|no such host|dns|error sending request|socket disconnected before|unable to connect|(?:trouble|problems?|difficulty|difficulties|issues?) (?:connecting|reaching)|(?:can't|cannot|could not|couldn't|failed to|unable to) (?:reach|connect)|connection (?:refused|failed|error|timed ?out|attempt|could not|to \S+ failed)|network (?:connection )?(?:is )?(?:error|failed|failure|unreachable|issue|problem|timeout|down|unavailable|lost|changed)|no internet|(?:you are |you're |appears? )?offline|no route to host|host (?:is )?unreachable|fetch failed|failed to fetch|proxy (?:error|connection|authentication)|request timed? ?out|(?:api|http|read|request|connect|connection|server|response) ?time(?:d )?-?out|timeout (?:error|while|waiting for|awaiting)|i\/o timeout|deadline exceeded|read timed out|apiconnectionerror|apitimeouterror|dial tcp|tunneling socket|网络(?:连接)?(?:错误|异常|失败|超时|不可用)|无法连接|连接(?:超时|失败|被拒)|请求超时|ネットワーク|接続(?:できません|に失敗|エラー|がタイムアウト)|네트워크|연결(?:할 수 없|에 실패)|netzwerk|keine verbindung|verbindung (?:fehlgeschlagen|abgelehnt|konnte)|erreur reseau|connexion (?:impossible|refusee|echouee)|error de (?:red|conexion)|sin conexion|erro de (?:rede|conexao)|sem conexao|errore di rete|ошибка сети|нет (?:соединения|подключения)|сет(?:ь|и|евая)|خطأ في الشبكة|ag hatasi|blad sieci|netwerkfout/,
      ),
      not: words(/mcp server|invalid request/),
    },
    class: 'network',
  },
  {
    name: 'out-of-memory',
    when: {
      words: words(
        /memoryerror|heap out of memory|heap limit|out of memory|outofmemory|\boom\b|segmentation fault|sigsegv|segfault|core dumped|bus error|illegal instruction|abort trap|fatal process|native stack trace|panicked at|panic:|fatal runtime error|stack overflow|maximum call stack|double free|munmap_chunk|agent loop died|died unexpectedly|crashed|killed (?:by|before)|was killed|\bsigkill\b|\bsigabrt\b|exited unexpectedly|process (?:exited|terminated|crashed) unexpectedly|unexpectedly (?:exited|terminated|quit)|(?:^|\n)(?:zsh: |bash: )?(?:\S+ )?killed(?:\s|$)|(?:^|\n)aborted(?:\s|$)|无响应|崩溃|内存不足|クラッシュ|メモリ不足|비정상 종료|메모리 부족|abgesturzt|crash\b|аварииное завершение/,
      ),
      not: words(/allocation of memory for the request/),
    },
    class: 'process_crash',
  },
  {
    name: 'timed-out',
    when: {
      words: words(
        /(?:agent|subagent|sub-agent|task|turn|run|session|worker|job|step|process|command|call|execution|operation|model)s?\b[^\n]{0,60}(?:timed? ?-?out|terminated by timeout|timeout|exceeded (?:the |its )?(?:maximum |time )?(?:time|duration|wall))|timeout (?:with no|after|reached|expired|exceeded)|deadline[^\n]{0,40}(?:reached|passed|hit|expired)|time limit (?:reached|exceeded)|(?:max(?:imum)?|total) (?:wall[- ]?(?:clock )?)?(?:time|duration|runtime) (?:reached|exceeded)|timed out|timeout|超时|タイムアウト|시간 초과|zeituberschreitung|delai (?:depasse|d'attente)|tiempo (?:de espera )?(?:agotado|excedido)|tempo (?:limite )?(?:esgotado|excedido|scaduto)|время ожидания|превышено время|انتهت المهلة|zaman asimi/,
      ),
    },
    class: 'timeout',
  },
  {
    name: 'cancelled',
    when: {
      words: words(
        /(?:operation|request|run|task|turn|session|query|execution|agent|generation|user|was|been|process)\b[^\n]{0,20}(?:cancell?ed|aborted|interrupted)|cancell?ed by|aborted by|interrupted by|user (?:cancell?ed|aborted|interrupted|rejected)|aborterror|keyboardinterrupt|sigint|sigterm|\^c|ctrl[- +]?c|已取消|已中止|用户(?:取消|中断)|キャンセル|中断され|취소|abgebrochen|annule|cancelad|interrompid[oa] pel|annullat|отменен|прервано пользователем|تم الإلغاء|iptal/,
      ),
    },
    class: 'cancelled',
  },
  {
    name: 'malformed',
    when: {
      words: words(
        /invalid[- _](?:request|argument|parameter|params|json|input|value|schema|tool|type|field)|unsupported (?:parameter|value|media|feature)|bad request|unexpected field|unrecognized (?:request|argument|field|option|flag)|(?:unknown|unexpected|unrecognized|invalid|ambiguous) (?:option|argument|flag|command|subcommand|parameter|field|choice)|missing required|not inside a|(?:was|were) not (?:specified|provided|given)|must be specified|required (?:field|parameter|argument)|must (?:be provided|have a corresponding|be (?:a|an|one|non|at|less|greater)|contain)|(?:is|are) not (?:a )?(?:valid|supported|permitted|allowed)|validation ?(?:error|exception|failed)|tools? limit reached|tools? have been provided|not received normally|could not be (?:verified|parsed|decoded)|malformed|cannot be (?:empty|null)|extra inputs|does not match|failed to parse|(?:prompt|input) (?:is )?(?:required|empty|must)|no (?:prompt|conversation|session|rollout|saved session)[^\n]{0,30}(?:found|provided)|session[^\n]{0,60}(?:not found|already in use|does not exist)|command not found|no such file|not supported|unprocessable|method not allowed|not found|参数(?:错误|不正确|有误|无效)|请求(?:参数|格式)|无效(?:的)?(?:参数|请求)|パラメータ|無効なリクエスト|잘못된 (?:요청|매개변수)|ungultige (?:anfrage|parameter)|requete (?:invalide|incorrecte)|parametre|solicitud (?:no valida|incorrecta|invalida)|solicitacao invalida|parametro|неверныи (?:запрос|параметр)|недопустим|geçersiz istek|gecersiz istek/,
      ),
    },
    class: 'invalid_request',
    needsCorroboration: true,
  },
];
