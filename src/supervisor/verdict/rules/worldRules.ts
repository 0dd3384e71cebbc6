import { lastWords, words, type Rule } from './rule.js';

/**
 * The same failures in languages that the other tables do not speak, and in word orders that they do not expect. Stems in
 * folded spelling: a noun and a verb near each other, in either order. Names of limits of a short window stay out.
 */
const either = (nouns: string, verbs: string, reach = 40): RegExp =>
  new RegExp(
    `(?:${nouns})[^\\n.!?;。]{0,${reach}}(?:${verbs})|(?:${verbs})[^\\n.!?;。]{0,${reach}}(?:${nouns})`,
  );

const LIMIT_NOUN =
  '\\blimit(?:u|a|en|et)?\\b|sinir|kotani|kotaniz|limitiniz|limitine|limit (?:vyuzi|pouzi|wykorz|zuzyc)|limitu (?:vyuzi|pouzi)|kvot|forbrugs|brugsgraense|bruksgrens|anvandningsgrans|graense|grense|gransen|kayttoraja|kayttokiintio|kiintio|\\braja|korlat|keret|kvota|limita de (?:utiliz|folos)|limita (?:zilnica|saptamanala|lunara)|cota|οριο|οριου|ποσοστωση|гранич|ліміт|лимит|квот|batas (?:penggunaan|pemakaian|harian|mingguan|bulanan)|kuota|gioi han|han muc|ขีดจำกัด|โควต้า|โควตา|सीमा|कोटा|מגבל|מכס|محدودیت|سهمیه|حد استفاده|سقف|ogranicz|limit zuzycia';
const LIMIT_VERB =
  'ulasti|ulasild|asildi|astiniz|doldu|tukendi|tuketti|dosazen|dosahl|prekrocen|prekrocil|vycerpan|naet|natt|nadd|uppnatt|overskred|overskrid|opbrugt|oppbrukt|forbrukt|saavutet|saavutt|ylitet|ylitt|kaytetty loppuun|taynna|elerte|elerted|tullep|kimerul|betelt|atins|depasit|epuizat|φτασ|εξαντλ|υπερβ|ξεπερ|συμπληρω|вичерп|досяг|перевищ|достигн|изчерп|tercapai|habis|melebihi|terlampaui|mencapai|da dat|da het|vuot qua|dat den|ถึง|เกิน|ครบ|หมด|पूरी|पूरा|पहुंच|पहुँच|समाप्त|खत्म|पार|הגעת|נוצל|חרג|מוצת|הסתיימ|رسید|تمام شد|به پایان|osiagn|wyczerp|przekrocz';

/** Named limits, as `usage_limit`. */
export const worldUsageRules: readonly Rule[] = [
  {
    name: 'world-usage',
    when: {
      words: lastWords(
        either(LIMIT_NOUN, LIMIT_VERB),
        /istek sin|hiz sin|pozadav|anmod|foresporsl|pyynto|keres|solicit|αιτημα|запит|permintaan|yeu cau|คำขอ|अनुरोध|בקשות|kontekst|kontext|context|bagl?am|token/,
      ),
    },
    class: 'usage_limit',
  },
  {
    name: 'de-used-up',
    when: {
      words: lastWords(
        /(?:kontingent|freikontingent|guthaben fur (?:heute|diese woche)|nutzung|tagesnutzung)\S{0,3}[^\n.]{0,30}(?:aufgebraucht|erschopft|verbraucht|ausgeschopft|uberschritten)/,
      ),
    },
    class: 'usage_limit',
  },
];

/** Too many requests. */
export const worldRateRules: readonly Rule[] = [
  {
    name: 'world-rate',
    when: {
      words: words(
        /cok (?:fazla|sik) istek|istek sinir|hiz sinir|prilis mnoho (?:pozadavku|dotazu)|prilis vela (?:poziadaviek|dopytov)|for mange (?:anmodninger|foresporsler|foresporgsler)|for manga (?:begaran|anrop|forfragn)|liian monta pyyntoa|pyyntojen (?:maara|raja)|tul sok keres|prea multe (?:cereri|solicitari)|παρα πολλα αιτηματα|υπερβολικα πολλα αιτηματα|занадто багато запитів|забагато запитів|твърде много заявки|terlalu banyak (?:permintaan|request)|qua nhieu (?:yeu cau|request)|คำขอ(?:มาก|บ่อย)เกินไป|มากเกินไป|बहुत (?:अधिक|ज्यादा|सारे) अनुरोध|יותר מדי בקשות|בקשות רבות מדי|درخواست(?:‌| )?های زیاد|تعداد درخواست|zbyt duzo (?:zadan|zapytan)|te veel (?:verzoeken|aanvragen|requests)|每秒[^\n。]{0,12}上限|请求(?:太|过)(?:多|快|频)|秒あたり|リクエスト(?:が|の)(?:多|頻度|制限)|요청(?:이|을)? (?:너무|초과)|anfragen pro (?:minute|sekunde)|requetes par (?:minute|seconde)|solicitudes por (?:minuto|segundo)|запросов в (?:минуту|секунду)/,
      ),
    },
    class: 'rate_limit',
    byWait: true,
  },
];

/** Money, sign-in, permission, policy, context: read where their English tables are. */
export const worldFirstRules: readonly Rule[] = [
  {
    name: 'world-context',
    when: {
      words: words(
        either(
          'kontextfenster|kontextlange|fenetre de contexte|longueur de contexte|ventana de contexto|janela de contexto|finestra di contesto|контекстн|довжин\\S{0,2} контекст|kontextov|kontekst|kontextfonster|kontextablak|контекст|上下文|コンテキスト(?:長|ウィンドウ|の長さ)|컨텍스트|baglam pencere|fereastra de context|παραθυρο',
          'uberschr|ubersteig|zu lang|voll|depass|trop long|super[ao]|exced|ultrapass|превыш|перевищ|слишком|prekrac|prekroc|przekracz|przekrocz|overskrid|overstiger|overskrid|ylit|tullep|asiyor|asildi|超|过长|超過|초과|depase',
        ),
      ),
    },
    class: 'context_overflow',
  },
  {
    name: 'world-policy',
    when: {
      words: words(
        /(?:nutzungs|inhalts|verwendungs)richtlinie|(?:verstosst|verstoss|verletzt)[^\n.]{0,40}richtlinie|(?:conditions|regles|politique|charte) (?:d'utilisation|de contenu|d'usage)[^\n.]{0,40}|enfreint[^\n.]{0,40}|(?:infringe|viola|incumple)\w*[^\n.]{0,40}(?:politica|norma|directri|diretri)|(?:viola|enfrei)\w*[^\n.]{0,40}(?:politica|politique|regolament|linee guida)|наруша\S{0,4}[^\n.]{0,40}(?:политик|правил)|порушу\S{0,4}[^\n.]{0,40}(?:політик|правил)|narusz\w*[^\n.]{0,30}(?:zasad|polityk|regulamin)|porusuj\w*[^\n.]{0,30}(?:zasad|pravid)|(?:敏感|违规|违法|不当)(?:信息|内容|词|文本)|安全(?:策略|审核|拦截|检测)|内容安全|(?:被|已)(?:拦截|屏蔽)|(?:ポリシー|規約|ガイドライン)[^\n。]{0,14}違反|(?:정책|약관|가이드라인)[^\n.]{0,14}(?:위반|위배)|politika\w*[^\n.]{0,24}ihlal|sensitive (?:content|words?|information)|new_sensitive|safety (?:review|check|audit)|سياسة (?:الاستخدام|المحتوى)/,
      ),
      not: words(/rate limit|fair[- ]us/),
    },
    class: 'content_policy',
  },
];

/** Sign-in and keys. */
export const worldAuthRules: readonly Rule[] = [
  {
    name: 'world-key',
    when: {
      words: words(
        /api[- ]?(?:キー|密钥|키|key)[^\n。.]{0,10}(?:無効|无效|正しくあり|不正|错误|잘못|유효하지|올바르지)|(?:无效|错误)的? ?(?:api ?)?(?:key|密钥)|(?:ungultiger?|falscher?|ungultig)[^\n.]{0,14}(?:api|schlussel)|api[- ]?schlussel[^\n.]{0,24}(?:ungultig|falsch|abgelehnt|gesperrt)|(?:cle|clef) (?:d')?api[^\n.]{0,20}(?:invalide|incorrecte|refusee|revoquee)|(?:clave|llave) (?:de )?(?:la )?api[^\n.]{0,20}(?:no (?:es )?valida|invalida|incorrecta)|chave (?:de |da )?api[^\n.]{0,20}(?:invalida|incorreta)|chiave (?:di )?api[^\n.]{0,20}(?:non valida|errata)|(?:api[- ]?)?ключ\S{0,2}[^\n.]{0,24}(?:недеиств|невер|неправ|недійсн|невірн)|(?:неверн|недеиств|невірн|недійсн)\S{0,3} (?:api[- ]?)?ключ|(?:gecersiz|hatali) (?:api )?anahtar|api anahtari?\S{0,3} gecersiz|neplatny (?:api )?klic|nieprawidlowy klucz|klucz api[^\n.]{0,14}nieprawidl|ongeldige (?:api[- ]?)?sleutel|ugyldig (?:api[- ]?)?nogle|ogiltig (?:api[- ]?)?nyckel|virheellinen api|ervenytelen api|cheie api invalida|無權|无权(?:访问|使用)|権限がありません|권한이 (?:없|부족)|keine berechtigung|zugriff verweigert|acces (?:refuse|interdit)|acceso denegado|acesso negado|accesso negato|доступ (?:запрещ|заборон)|erisim (?:reddedildi|engellendi)|toegang geweigerd|odmowa dostepu|przistup odepren|not (?:on|in) the allow[- ]?list|ip (?:address )?(?:is )?(?:not allowed|blocked)|noauth|no_?auth_?error|licc fail|مفتاح api غير صالح|تم رفض الوصول/,
      ),
      not: words(/qps|overflow|concurren|session|sitzung/),
    },
    class: 'auth_denied',
  },
  {
    name: 'world-sign-in',
    when: {
      words: words(
        /(?:session|token|login|credentials?)s? (?:\w+ ){1,6}(?:has|have|is|was) (?:expired|no longer valid)|(?:sitzung|anmeldung|token|zugang)\S{0,3}[^\n.]{0,20}(?:abgelaufen|ungultig)|(?:session|jeton|connexion|authentification)[^\n.]{0,20}(?:a|est) (?:expiree?|echouee?)(?![a-z])|(?:sesion|token|sessao|sessione|autentica\w*)[^\n.]{0,20}(?:caduc|expir|venci|scadut|fall[oi])|(?:сесія|токен|сеанс|сессия|авторизаці)\S{0,2}[^\n.]{0,20}(?:минул|закінч|истек|недійсн)|(?:увіид|увійд|воид|войд)\S{0,4}|oturum[^\n.]{0,24}(?:sona er|doldu|acin|acma)|(?:sesja|relace|sessie|session|sessionen|istunto|munkamenet|sesiunea|συνεδρια|sesi)\S{0,3}[^\n.]{0,20}(?:wygas|vyprs|verlop|udlob|utgatt|utlopt|gatt ut|vanhent|lejart|expirat|εληξε|berakhir|kedaluwarsa)|phien (?:dang nhap|lam viec)[^\n.]{0,16}het han|หมดอายุ|सत्र समाप्त|תוקף[^\n]{0,16}פג|نشست[^\n]{0,16}منقضی|(?:凭证|令牌|授权|登录态?|秘钥|会话|身份)[^\n。]{0,10}(?:过期|失效|已经?失效)|(?:セッション|トークン|認証情報|ログイン)[^\n。]{0,14}(?:期限|切れ|失効|必要)|(?:세션|토큰|로그인|인증)[^\n.]{0,12}(?:만료|필요|실패)/,
      ),
      not: words(/idle|mcp/),
    },
    class: 'auth_expired',
  },
];

/** The provider, the wire, the clock. */
export const worldRestRules: readonly Rule[] = [
  {
    name: 'world-stream',
    when: {
      words: words(
        /incompleteread|incompletemessage|incomplete message|connection broken|chunkedencoding|unexpectedeof|remoteprotocolerror|(?:verbindung|datenstrom|stream|antwort)[^\n.;]{0,40}(?:unterbrochen|abgebrochen|getrennt|abgerissen)|(?:connexion|flux|reponse)[^\n.;]{0,30}(?:interrompu|coupe|perdu)|(?:conexion|flujo|respuesta|conexao|fluxo|resposta|connessione|flusso)[^\n.;]{0,30}(?:interrump|interromp|cort[ao]d|perdid|interrott)|流(?:式)?(?:响应|输出|传输)?[^\n。]{0,6}(?:中断|断开|异常|终止)|连接[^\n。]{0,20}(?:中断|断开|被关闭|重置)|(?:接続|ストリーム|応答)[^\n。]{0,14}(?:切断|中断|途切れ|切れ)|(?:연결|스트림|응답)[^\n.]{0,12}(?:끊|중단)|(?:соединени|поток|ответ|з'єднання)\S{0,2}[^\n.]{0,20}(?:прерв|обор|разорв|перерв)|baglanti[^\n.]{0,16}(?:kesildi|koptu)|spojeni[^\n.]{0,16}preruseno|polaczenie[^\n.]{0,16}(?:przerwane|zerwane)|verbinding[^\n.]{0,16}(?:verbroken|onderbroken)|(?:anslutning|forbindelse|tilkobling)\S{0,3}[^\n.]{0,16}(?:bruten|brots|afbrudt|brutt)|yhteys katkesi|a kapcsolat megszakadt|conexiunea[^\n.]{0,12}intrerupt/,
      ),
    },
    class: 'stream_interrupted',
  },
  {
    name: 'world-network',
    when: {
      words: words(
        /(?:unable|failed) to resolve|cannot resolve|could ?n'?t resolve|name resolution|resolve host|(?:keine|kein) (?:netz|internet|verbindung)|server nicht erreichbar|nicht erreichbar|(?:aucune|pas de) connexion|injoignable|sin (?:red|internet)|sem (?:rede|internet)|nessuna connessione|irraggiungibile|нет (?:сети|интернета)|немає (?:з'єднання|інтернету|мережі)|internet baglantisi|baglanti (?:kurulamadi|hatasi)|brak (?:polaczenia|internetu)|zadne pripojeni|geen (?:verbinding|internet)|ingen (?:internet|forbindelse|anslutning|tilkobling)|ei (?:verkko)?yhteytta|nincs (?:internet|kapcsolat)|fara conexiune|χωρις συνδεση|tidak ada koneksi|khong co (?:ket noi|mang)|ไม่มีการเชื่อมต่อ|אין חיבור|网络(?:连接)?(?:不可达|中断|故障)|通信エラー|通信に失敗|통신 (?:오류|실패)/,
      ),
    },
    class: 'network',
  },
  {
    name: 'world-overloaded',
    when: {
      words: words(
        /(?:worker|queue|backend|replica|node|pool)s?\b[^\n.]{0,40}(?:limit (?:reached|exceeded)|(?:is |are )full|exhausted|saturated)|no (?:deployments?|workers?|replicas?|instances?|backends?|healthy upstream\w*) (?:is |are )?available|(?:cluster|capacity|fleet|inference|gpus?)\b[^\n.]{0,24}(?:saturated|full|exhausted|busy)|auslastung|ausgelastet|uberlastet|dienst[^\n.]{0,20}(?:nicht verfugbar|gestort)|service[^\n.]{0,16}(?:indisponible|surcharge)|servi(?:cio|co|dor|zio)[^\n.]{0,24}(?:no disponible|indisponivel|non disponibile|ocupado|saturad|occupato)|сервер[^\n.]{0,20}(?:занят|перегруж|перевантаж|недоступ)|(?:служб|сервис|сервіс)\S{0,2}[^\n.]{0,20}(?:недоступ)|sunucu[^\n.]{0,20}(?:mesgul|yogun|kullanilam)|server\S{0,3}[^\n.]{0,16}(?:pretizen|przeciaz|overbelastet|overbelast|overbelastad|ylikuormit|tulterhelt|supraincarcat|sibuk|qua tai)|υπερφορτω|เซิร์ฟเวอร์[^\n]{0,16}(?:ไม่ว่าง|เกิน)|सर्वर[^\n]{0,16}(?:व्यस्त|ओवरलोड)|השרת[^\n]{0,12}עמוס|سرور[^\n]{0,12}شلوغ|负载|(?:排队|资源紧张|算力不足|暂不可用)|アクセスが集中|(?:ただいま|現在)[^\n。]{0,14}(?:混|利用できません)|접속자가 많|사용량이 많/,
        /\brate\b|memory|heap/,
      ),
    },
    class: 'overloaded',
  },
  {
    name: 'world-timeout',
    when: {
      words: words(
        /(?:killed|stopped|terminated|aborted|cancelled) after (?:exceeding|reaching|using up|\d)[^\n]{0,30}(?:budget|min|sec|hour|time)|(?:exceed\w*|over|ran past|used up) (?:its|the) (?:\d+ ?\w+ )?(?:time|wall[- ]?clock|runtime|duration) ?(?:budget|limit|allowance)?|delai d'execution[^\n.]{0,34}depasse|(?:laufzeit|zeitlimit|zeitbudget|ausfuhrungszeit)[^\n.]{0,24}(?:uberschritten|abgelaufen|erreicht)|tiempo (?:de ejecucion|limite)[^\n.]{0,24}(?:excedido|superado|agotado)|tempo (?:de execucao|di esecuzione)[^\n.]{0,24}(?:excedido|superato|esgotado)|время (?:выполнения|работы)[^\n.]{0,24}(?:истекло|превыш)|час виконання[^\n.]{0,24}(?:вичерп|перевищ)|(?:执行|运行)(?:时间)?(?:超时|超过)|実行時間[^\n。]{0,12}超|실행 시간[^\n.]{0,10}초과|sure (?:doldu|asildi)|casovy limit|przekroczono (?:limit )?czas/,
      ),
    },
    class: 'timeout',
  },
];
