import { fold } from './plain.js';

/**
 * Who speaks in a plain text. A program's own notices are kept; answers of the agent, quotations, code, echoes of the
 * prompt and noise of side features are left out: the same words mean nothing there.
 */
export interface Spoken {
  /** The program's notices, unwrapped, one paragraph a line. */
  readonly program: string;
  /** Notices of attempts that go on by themselves. */
  readonly retries: string;
  /** Notices that a limit is near, or a panel that shows how much is used. */
  readonly near: string;
  /** The last word is of an attempt that goes on: what stands before it is why. */
  readonly goesOn: boolean;
  /** Something was left out because an agent, a person or a side feature said it. */
  readonly left: boolean;
}

/** A program's own error line in folded spelling, whatever follows; behind the time of a log, too. */
export const ERROR_LINE =
  /^\W{0,6}(?:\d[\d:.,tz/+-]{3,30}\s{1,3}){0,2}\W{0,6}(?:(?:[a-z_]\w{0,24}(?:\.|::)){0,5}\w{0,30}(?:error|exception)|(?:\[[\w.-]{1,30}\] )?(?:response|request|api|model|provider|agent|unexpected|unhandled|internal) error|fatal|panic|errno)\b/;

const FENCE = /^\s*(?:```|~~~)/;
const TABLE = /^\s*[|│┃].*[|│┃]\s*$/;
/** A list is written by somebody; a notice of a program is none of its points. */
const POINT = /^\s*(?:[-*]\s+[^\s\d]|\d{1,2}[.)]\s+\p{L})/u;
const TOOL_CALL = /^\s*[⏺●•]\s*[A-Z]\w{1,30}\(/;
/** A command that the agent ran; what follows up to an empty line is its output. */
const SHELL = /^\s*(?:[\w.-]{1,40}@[\w.:~/-]{1,60}\s?)?[$#%]\s+[a-z./~]/;
const TESTED = /^\s*[✓✔√☑]\s/;
const ECHO = /^\s*(?:>|❯|›|\$|user:)\s+\S/i;
const CODE =
  /^\s*(?:Expected|Received|Actual|AssertionError)\b|^\W*\d+ (?:passed|failed|skipped|tests?)\b|^\s*(?:[0-9a-f]{7,40}\s)?(?:feat|fix|chore|docs|refactor|test|ci|build|perf|style|revert)(?:\([\w./-]{1,30}\))?!?:\s|^\s*(?![45]\d\d:\s)\d+\s*[+|:-]\s(?!(?:\w{1,12} )?error\b)|^\s*[+-]{1,3}\s{0,12}["'`(\w@]|^\s*["'][\w-]+["']\s*:\s|\s\/\/\s|^\s*assert\s|^\S+\.(?:ts|tsx|js|mjs|jsx|py|go|rs|java|rb|c|cpp|h|md|json|yaml|yml|txt|log|sh|toml|vue|css|html|php|swift|kt):\d+|^\s*(?:const|let|var|function|def|class|import|export|return|if|else|elif|for|while|try|catch|except|raise|throw|assert|expect|it|describe|test|print|console\.\w+|logger\.\w+|#|\/\/|\/\*|\*)(?:\s*[({]|\s+\S.*[;{}()=:]\s*$|\s+["'`])/;
const SIDE =
  /^\s*<tool_use_error>|\b(?:bash|shell|command|script)\b[^\n]{0,24}timed out|^\W*(?:\d[\d:.tz+-]*\s+)*\[?(?:debug|trace|info|verbose)\b(?!rmation)|\bmcp\b|telemetry|event logging|failed to export|analytics|statsig|sentry|auto-?update|update check|checking for updates|version check|edit_prediction|edit prediction|autocomplete|inline completion|next edit|embedding|indexing|status ?line|\bhooks?\b|\bplugin\b|\blsp\b|language server|marketplace|title generation|npm (?:warn|notice|err)|metrics|otel|opentelemetry|websearch|web search|webfetch|remote settings|feature flags?|background (?:task|sync)|release notes|session title|crash report|git fetch/i;
const RETRY =
  /retrying (?:in|after|with)|\bretrying\b|reconnecting|attempt\s*#?\s*\d+\s*(?:\/|of|failed)|\(attempt \d|attempt #\d|retry (?:attempt )?#?\d+ ?(?:\/|of) ?\d+|\d+ ?(?:s|sec|seconds?|秒)? ?后?(?:自动|将)重试|自动重试|retry attempt|will retry|retry #\d|retry \d{1,2} (?:after|in)|retries? (?:left|remaining)|重试中|正在重试|第\s*\d+\s*次重试|再試行中|재시도 중|المحاولة رقم|повторная попытка|neuer versuch (?:in|nach)\b|nouvelle tentative|reintentando|tentando novamente/i;
const GAVE_UP =
  /retries? exhausted|max(?:imum)? (?:retries|attempts)|gave up|giving up|exceeded retry|no more retries|after \d+ (?:retries|attempts)|retried \d+ times/i;
const GOES_ON =
  /(?:automatically )?(?:switch(?:ing|ed)|fall(?:ing|en)? back|fell back|downgrad(?:ing|ed)|fallback) (?:to|from)\b|now using|continuing (?:with|on)\b(?![^\n]*usage credits)|using (?:the )?fallback|for the (?:rest|remainder) of (?:this|the) session|trying fallback|recovered|succeeded after|goes on|resumed successfully/i;
const NEAR =
  /(?<![\d.])\d{1,2}(?:\.\d{1,3})? ?%(?![0-9a-f]{2})|\d ?% (?:of (?:your|the|its|this)|used|utili[sz]ed|consumed)|used \d{1,3}(?:\.\d{1,3})? ?%|% left|\d ?% remaining|\bpercent of (?:your|the|its|this)\b|approaching|close to (?:your|the|reaching)|nearing|almost (?:reached|at|out)|nearly (?:reached|at|out)|about to (?:hit|reach)|running low|low (?:balance|credits?) warning|(?<!\d)[1-9]\d{0,6} (?:\w{1,20} )?(?:requests|messages|prompts|credits) (?:left|remaining)|limits? resets? (?:every|mondays|tuesdays|wednesdays|thursdays|fridays|saturdays|sundays|daily|weekly)|usage: ?\d|\bused (?<spent>\d[\d,.]{0,9}) ?(?:of|\/|out of) ?(?!\k<spent>(?![\d,.]))\d|即将(?:达到|用完)|接近[^\n]{0,10}(?:上限|限额|限制)|まもなく|に近づ|もうすぐ|곧 한도|임박|nahert sich|bald erreicht|bientot atteint|approche de|a punto de (?:alcanzar|agotar)|cerca (?:de|del) (?:su |tu )?limite|perto do limite|proximo do limite|приближа|почти исчерпан|اقترب/i;
const PROSE =
  /^\s*[QA]: |^\W*[Hh]ere(?:'s| is| are)\b|^\W*(?:[Ii]t|[Tt]his|[Tt]hat) means\b|\byou asked\b|(?:^|[\s("*])I(?:'ve|'ll|'d)? (?!can'?t|cannot|am unable|am sorry)[a-z]|(?:^|[\s(])I'm (?!sorry|unable|not able)[a-z]|\bmy (?:fix|change|plan|test|code|implementation)\b|\bwe (?:now|already|should|can|need|added|use|have|do)\b|\blet me\b|\blet's\b|\byesterday\b|\blast (?:month|week|night|year)\b|\b(?:has|have) been fixed\b|\bwas fixed\b|\bthe (?:docs?|documentation|readme|logs?|issue|reporter|test|tests|importer|client|wrapper|handler|code|function|script|user saw|report|changelog|article|spec|PR)\b(?! (?:is|was) (?:unable|not))|\bdocs (?:say|mention|state)|\bsummari[sz]|\bimplemented\b|\brefactor|\bif you see\b|^\W*looking at\b|\bis (?:thrown|raised|returned|shown|logged|displayed|caught|handled)\b|\bare (?:now )?(?:shown|handled|retried|logged|thrown|displayed|caught|reported|covered)\b|\bwhenever\b|\bno (?:issues?|errors?|rate limit\w*|limits?) (?:detected|found|needed|hit|so far|reached)|\bnot (?:been )?(?:rate[- ]limited|throttled)\b|\bshould be retried\b|\bfor example\b|\btell me\b|\bplease (?:fix|add|explain|implement|review|write|make)\b|\bhow (?:do|to|does|can)\b|\bwhat (?:does|is|happens)\b|^\s*(?:TODO|FIXME|NOTE|Fix|Add|Explain|Implement|Write|Handle|Update|Refactor|Test|Done|Fixed|Added|Checked|Wrote|Updated|Renamed|Refactored|Tested|Documented|Implemented|Improved|Investigated|Reproduced)\b(?!:? (?:error|external))|(?:我|我们)(?:已经?|会|将|在|把|给|添加|修复|实现)|文档(?:说|提到|中)|昨天|上(?:周|个月)|ドキュメント|追加しました|修正しました|추가했|수정했|ich habe|j'ai|he (?:anadido|agregado|corregido)|adicionei|corrigi|я (?:добавил|исправил)/m;

/** Takes a plain text apart by who speaks. `trusted`: the text is known to be about a failure, so only clear quotations are left out. */
export function spokenIn(shown: string, trusted: boolean): Spoken {
  const program: string[] = [];
  const retries: string[] = [];
  const near: string[] = [];
  let fenced = false;
  let left = false;
  let panel = false;
  let tool = false;
  let goesOn = false;
  let shell = false;
  let quoted = false;
  for (const paragraph of unwrapped(unboxed(shown))) {
    // What is indented below a tool call is the tool's output.
    tool = TOOL_CALL.test(paragraph) || (tool && /^(?:\s{2,}|\s*⎿|\s*$)/.test(paragraph));
    shell = SHELL.test(paragraph) || (shell && paragraph.trim() !== '');
    // What a speaker announces with a colon and sets in is quoted.
    if (paragraph.trim() !== '') quoted = quoted && /^(?: {2}|\t)/.test(paragraph);
    if (tool || shell || (quoted && !trusted && paragraph.trim() !== '')) {
      left = true;
    } else if (FENCE.test(paragraph)) {
      fenced = !fenced;
      left = true;
    } else if (paragraph.trim() === '') {
      program.push('');
    } else if (
      fenced ||
      TABLE.test(paragraph) ||
      TESTED.test(paragraph) ||
      ECHO.test(paragraph) ||
      ((CODE.test(paragraph) || POINT.test(paragraph)) && !trusted)
    ) {
      left = true;
    } else if (isProse(paragraph) || (SIDE.test(paragraph) && !trusted) || SIDE_REQUEST.test(paragraph)) {
      left = true;
      quoted = /:\s*$/.test(paragraph);
    } else if (RETRY.test(paragraph) && !GAVE_UP.test(paragraph)) {
      retries.push(paragraph);
      goesOn = true;
    } else if (GOES_ON.test(paragraph)) {
      left = true;
    } else if (NEAR.test(fold(paragraph)) && !isReached(paragraph)) {
      near.push(paragraph);
      panel = true;
    } else if (/^\s*[█▌▏▎▍▋▊▉░▒▓ ]+/.test(paragraph) && panel) {
      near.push(paragraph);
    } else if (/^\s*(?:resets?|refresh(?:es)?) /i.test(paragraph) && panel) {
      near.push(paragraph);
    } else {
      if (/^\s*current (?:session|week)/i.test(paragraph)) panel = true;
      if (/[\p{L}\p{N}]/u.test(paragraph)) goesOn = false;
      program.push(paragraph);
    }
  }
  // A side feature's answer is told in the line below it.
  if (left && program.every((line) => /^\s*(?:body:|$)/i.test(line))) program.length = 0;
  return { program: program.join('\n'), retries: retries.join('\n'), near: near.join('\n'), goesOn, left };
}

const SIDE_REQUEST =
  /failed to record rollout|reading additional input from stdin|edit_prediction|event logging|failed to export|\bmcp server\b/i;

/** A notice that a limit is reached may show the use too: `limit reached (100 % used)`. */
function isReached(paragraph: string): boolean {
  return (
    /\b(?:reached|exceeded|exhausted|used up|out of|insufficient|no more|have hit|'ve hit)\b|已达|已用完|超过/i.test(
      paragraph,
    ) && !/approaching|almost|nearly|about to|close to|nearing|soon|before/i.test(paragraph)
  );
}

const REPORTED =
  /(?:^|[\s("*,])I(?:'ve)? (?:have |also |now |then |just |already |only )?(?:added|fixed|changed|updated|wrote|made|used|created|removed|replaced|moved|renamed|refactored|implemented|checked|ran|tested|verified|found|handled|wrapped|documented|switched|extended|mocked|[a-z]{3,14}ed)\b|^\W*(?:已(?:修复|添加|更新|完成|实现|处理|修改|新增)|我(?:已|把|将|在)|(?:すべて|全て)の?テスト)|(?:追加|修正|実装|確認|更新|対応)(?:し|いたし)ました|(?:추가|수정|구현|확인|변경)했습니다/;

/** A text whose last word is the agent's own report: whatever is shown above it did not stop the agent. */
export function endsInReport(text: string): boolean {
  const last = text.trimEnd().slice(-600).split('\n').pop() ?? '';
  if (/^\s*[⏺●]\s+\p{L}/u.test(last) && isProse(last)) return true;
  return REPORTED.test(last) && !/^\s*[[{]|^\W*(?:error|fatal|api error)/i.test(last);
}

/** True for a paragraph that a person or a model wrote. */
export function isProse(paragraph: string): boolean {
  const plain = paragraph.replace(/^\s*[⏺●•■▪◆✻⎿]\s*/, '');
  if (/^(?:error|fatal|api error|failed|warning|exception|llm provider error|\w*error:)/i.test(plain))
    return false;
  return PROSE.test(plain);
}

const BORDER = /^[ \t]*[╭╮╰╯┌┐└┘╔╗╚╝├┤─━═ \t]{3,}$/gm;
const BOXED = /^[ \t]*[│┃║][ \t]?([^│┃║\n]*?)[ \t]*[│┃║][ \t]*$/gm;

/** The words in a drawn box; a table has more than one column and stays one. */
function unboxed(shown: string): string {
  return /[│┃║]/.test(shown) ? shown.replace(BORDER, '').replace(BOXED, '$1') : shown;
}

const MARKER = /^\s*(?:[-*•●⏺■▪◆✻✕✗×❌⚠⛔⎿❯>|│/#+]|\d+[.)]\s|\[|\{|at\s|```)/;

/** Lines joined to the paragraphs that a screen has wrapped. */
function unwrapped(shown: string): readonly string[] {
  const paragraphs: string[] = [];
  let open = false;
  for (const line of shown.split('\n')) {
    const trimmed = line.trim();
    const last = paragraphs[paragraphs.length - 1];
    const goesOn =
      open &&
      last !== undefined &&
      trimmed !== '' &&
      !MARKER.test(line) &&
      !FENCE.test(last) &&
      continues(last, trimmed);
    if (goesOn) paragraphs[paragraphs.length - 1] = `${last} ${trimmed}`;
    else paragraphs.push(line);
    open = trimmed !== '' && !TABLE.test(line);
  }
  return paragraphs;
}

function continues(before: string, next: string): boolean {
  const end = before.trimEnd();
  // The head of a log entry: its words follow in the next line.
  if (/^[\s\d:.,tz/+-]{8,40}\[?(?:error|fatal|critical)\]?:?$/i.test(end)) return true;
  if (/[.!?。！？:;)\]}]$/.test(end)) return false;
  if (/^[a-zа-яà-ÿ(,&]/.test(next)) return true;
  return end.length >= 60 && /[a-zа-яà-ÿ,]$/.test(end);
}
