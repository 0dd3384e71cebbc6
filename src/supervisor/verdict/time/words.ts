import { foldHan } from '../text/plain.js';

/**
 * The words of dates and durations, in folded spelling (lower case, no marks on Latin and Cyrillic letters).
 * Data only: a further language is a further word of a row.
 */

const MONTH_ROWS: readonly (readonly string[])[] = [
  'january|ledna|januara|tammikuuta|tammikuu|ianuarie|ιανουαριου|януари|มกราคม|जनवरी|ינואר|jan|januar|janvier|janv|enero|ene|janeiro|gennaio|gen|января|январь|янв|januari|stycznia|ocak|يناير|січня',
  'february|unora|februara|helmikuuta|helmikuu|februarie|φεβρουαριου|февруари|กุมภาพันธ์|फरवरी|פברואר|feb|februar|fevrier|fevr|fev|febrero|fevereiro|febbraio|февраля|февраль|фев|februari|lutego|subat|فبراير|лютого',
  'march|brezna|marcius|maaliskuuta|maaliskuu|martie|marts|maret|μαρτιου|มีนาคม|मार्च|מרץ|mar|marz|mrz|mars|marzo|marco|марта|март|мар|maart|mrt|marca|mart|مارس|березня',
  'april|dubna|aprila|aprilis|huhtikuuta|huhtikuu|aprilie|απριλιου|април|เมษายน|अप्रैल|אפריל|apr|avril|avr|abril|abr|aprile|апреля|апрель|апр|kwietnia|nisan|أبريل|ابريل|квітня',
  'may|kvetna|majus|toukokuuta|toukokuu|μαιου|พฤษภาคม|मई|מאי|mai|mayo|maio|maggio|mag|мая|маи|mei|maja|mayis|maj|مايو|травня',
  'june|cervna|juna|junius|kesakuuta|kesakuu|iunie|ιουνιου|юни|มิถุนายน|जून|יוני|jun|juni|juin|junio|junho|giugno|giu|июня|июнь|июн|czerwca|haziran|يونيو|червня',
  'july|cervence|jula|julius|heinakuuta|heinakuu|iulie|ιουλιου|юли|กรกฎาคม|जुलाई|יולי|jul|juli|juillet|juil|julio|julho|luglio|lug|июля|июль|июл|lipca|temmuz|يوليو|липня',
  'august|srpna|augusta|augusztus|elokuuta|elokuu|αυγουστου|สิงหาคม|अगस्त|אוגוסט|aug|aout|agosto|ago|августа|август|авг|augustus|augusti|sierpnia|agustos|agustus|أغسطس|اغسطس|серпня',
  'september|zari|septembra|szeptember|syyskuuta|syyskuu|septembrie|σεπτεμβριου|септември|กันยายน|सितंबर|ספטמבר|sept|sep|septembre|septiembre|setembro|set|settembre|сентября|сентябрь|сен|сент|wrzesnia|eylul|سبتمبر|вересня',
  'october|rijna|oktobra|lokakuuta|lokakuu|octombrie|οκτωβριου|октомври|ตุลาคม|अक्टूबर|אוקטובר|oct|oktober|okt|octobre|octubre|outubro|out|ottobre|ott|октября|октябрь|окт|pazdziernika|ekim|أكتوبر|اكتوبر|жовтня',
  'november|listopadu|novembra|marraskuuta|marraskuu|noiembrie|νοεμβριου|ноември|พฤศจิกายน|नवंबर|נובמבר|nov|novembre|noviembre|novembro|ноября|ноябрь|ноя|нояб|listopada|kasim|نوفمبر|листопада',
  'december|prosince|decembra|joulukuuta|joulukuu|decembrie|δεκεμβριου|декември|ธันวาคม|दिसंबर|דצמבר|dec|dezember|dez|decembre|diciembre|dic|dezembro|dicembre|декабря|декабрь|дек|desember|grudnia|aralik|ديسمبر|грудня',
].map(words);

const WEEKDAY_ROWS: readonly (readonly string[])[] = [
  'monday|pondeli|pondelok|hetfo|hetfon|maanantai|maanantaina|pazartesi|понедiлок|понеділок|senin|δευτερα|จันทร์|सोमवार|luni|mon|montag|lundi|lunes|segunda-feira|segunda|lunedi|понедельник|maandag|poniedzialek|mandag|пн|星期一|周一|週一|月曜日|月曜|월요일|الاثنين',
  'tuesday|utery|utorok|kedd|kedden|tiistai|tiistaina|tisdag|sali|вівторок|selasa|τριτη|อังคาร|मंगलवार|marti|tues|tue|dienstag|mardi|martes|terca-feira|terca|martedi|вторник|dinsdag|wtorek|tirsdag|вт|星期二|周二|週二|火曜日|火曜|화요일|الثلاثاء',
  'wednesday|streda|stredu|szerda|szerdan|keskiviikko|keskiviikkona|carsamba|середу|середа|rabu|τεταρτη|พุธ|बुधवार|miercuri|wed|mittwoch|mercredi|miercoles|quarta-feira|quarta|mercoledi|среду|среда|woensdag|sroda|srode|onsdag|ср|星期三|周三|週三|水曜日|水曜|수요일|الأربعاء|الاربعاء',
  'thursday|ctvrtek|stvrtok|csutortok|csutortokon|torstai|torstaina|persembe|четвер|kamis|πεμπτη|พฤหัสบดี|गुरुवार|joi|thurs|thur|thu|donnerstag|jeudi|jueves|quinta-feira|quinta|giovedi|четверг|donderdag|czwartek|torsdag|чт|星期四|周四|週四|木曜日|木曜|목요일|الخميس',
  "friday|patek|piatok|pentek|penteken|perjantai|perjantaina|cuma|п'ятницю|п'ятниця|jumat|παρασκευη|ศุกร์|शुक्रवार|vineri|fri|freitag|vendredi|viernes|sexta-feira|sexta|venerdi|пятницу|пятница|vrijdag|piatek|fredag|пт|星期五|周五|週五|金曜日|金曜|금요일|الجمعة",
  'saturday|sobotu|szombat|szombaton|lauantai|lauantaina|cumartesi|суботу|субота|sabtu|σαββατο|เสาร์|शनिवार|sambata|sat|samstag|sonnabend|samedi|sabado|sabato|субботу|суббота|zaterdag|sobota|sobote|lordag|сб|星期六|周六|週六|土曜日|土曜|토요일|السبت',
  'sunday|nedele|nedeli|vasarnap|sunnuntai|sunnuntaina|pazar|неділю|неділя|κυριακη|อาทิตย์|रविवार|duminica|sun|sonntag|dimanche|domingo|domenica|воскресенье|zondag|niedziela|niedziele|sondag|вс|星期日|星期天|周日|週日|日曜日|日曜|일요일|الأحد|الاحد',
].map(words);

const DAY_ROWS: Readonly<Record<number, readonly string[]>> = {
  0: words(
    "today|dnes|tanaan|astazi|idag|сьогодні|σημερα|วันนี้|आज|היום|i dag|hari ini|hom nay|dzis|tonight|later today|heute|aujourd'hui|aujourdhui|hoy|hoje|oggi|сегодня|vandaag|dzisiaj|bugun|今天|今日|本日|今晚|今夜|오늘|اليوم",
  ),
  1: words(
    'tomorrow|zitra|zajtra|huomenna|maine|holnap|imorgon|besok|αυριο|พรุ่งนี้|מחר|ngay mai|tmrw|morgen|demain|manana|amanha|domani|завтра|jutro|yarin|明天|明日|翌日|次日|내일|غدا|the next day|next day|i morgon|i morgen',
  ),
  2: words(
    'day after tomorrow|pozitri|overmorgen|i overmorgen|lusa|ubermorgen|apres-demain|pasado manana|depois de amanha|dopodomani|послезавтра|后天|後天|明後日|모레|بعد غد',
  ),
};

/** Seconds of each unit of time. */
const UNIT_ROWS: readonly (readonly [number, readonly string[]])[] = [
  [0.001, words('ms|msec|msecs|millisecond|milliseconds|millis|毫秒|ミリ秒|밀리초|мс')],
  [
    1,
    words(
      's|sekuntia|sekunnin|sekunnissa|sekunti|masodperc|masodpercen|secunde|secunda|δευτερολεπτα|วินาที|שניות|ثانیه|सेकेंड|sekunda|sec|secs|second|seconds|sekunde|sekunden|sek|seconde|secondes|segundo|segundos|seg|secondo|secondi|секунд|секунды|секунду|секунда|сек|с|seconden|sekund|sekundy|sekunder|saniye|sn|秒|秒钟|秒鐘|秒間|초|ثانية|ثواني|ثوان|ثوانٍ|giay|detik|секунди|सेकंड',
    ),
  ],
  [
    60,
    words(
      'm|minuuttia|minuutin|minuutti|minutu|minuta|perc|percen|minuutissa|λεπτα|λεπτο|นาที|דקות|דקה|دقیقه|хвилину|хв|min|mins|minute|minutes|minuten|minuto|minutos|minuti|минут|минуты|минуту|минута|мин|м|minuut|minut|minuty|minuter|minutter|dakika|dk|分|分钟|分鐘|分間|분|دقيقة|دقائق|phut|menit|хвилин|хвилини|मिनट',
    ),
  ],
  [
    3600,
    words(
      'h|tuntia|tunnin|tunti|hodin|hodiny|hodinu|hodina|hodinach|oran|orat|tim|ωρες|ωρα|ชั่วโมง|שעות|שעה|घण्टे|घण्टा|годину|год|ساعت|timen|hr|hrs|hour|hours|stunde|stunden|std|heure|heures|hora|horas|ora|ore|час|часа|часов|ч|uur|uren|godzina|godziny|godzin|godz|timme|timmar|time|timer|saat|sa|小时|小時|个小时|個小時|时间|時間|시간|ساعة|ساعات|gio|jam|годин|години|घंटे|घंटा',
    ),
  ],
  [
    86_400,
    words(
      'd|paivaa|paivan|paiva|dnu|den|dny|nap|napon|zile|zi|ημερες|ημερα|μερες|วัน|ימים|יום|روز|днiв|дні|dogn|dygn|day|days|tag|tage|tagen|jour|jours|dia|dias|giorno|giorni|день|дня|днеи|дн|д|dag|dagen|dzien|dni|dagar|dager|gun|天|日|日間|일|يوم|أيام|ايام|ngay|hari|днів|दिन',
    ),
  ],
  [
    604_800,
    words(
      'w|viikkoa|viikon|viikko|tydne|tydnu|het|hete|saptamani|saptamana|uke|uker|uge|uger|vecka|veckor|εβδομαδα|εβδομαδες|สัปดาห์|שבוע|שבועות|هفته|тиждень|тижні|тижнів|हफ्ते|सप्ताह|wk|wks|week|weeks|woche|wochen|semaine|semaines|semana|semanas|settimana|settimane|неделя|недели|недель|неделю|weken|tydzien|tygodnie|tygodni|hafta|周|週|个星期|星期|週間|주|أسبوع|اسبوع|أسابيع|tuan|minggu',
    ),
  ],
];

const NUMBER_ROWS: readonly (readonly [number, readonly string[]])[] = [
  [0.25, words('a quarter of an|quarter of an')],
  [0.75, words('three quarters of an|three-quarters of an')],
  [1, words('a|an|one|ein|eine|einer|einem|un|une|una|uno|um|uma|один|одну|一')],
  [2, words('two|zwei|deux|dos|dois|duas|due|два|две|二|两|兩')],
  [3, words('three|drei|trois|tres|tre|три|三')],
  [4, words('four|vier|quatre|cuatro|quatro|quattro|четыре|四')],
  [5, words('five|funf|cinq|cinco|cinque|пять|五')],
  [6, words('six|sechs|六')],
  [7, words('seven|七')],
  [8, words('eight|八')],
  [9, words('nine|九')],
  [10, words('ten|zehn|dix|diez|十')],
  [11, words('eleven')],
  [12, words('twelve')],
  [15, words('fifteen')],
  [20, words('twenty')],
  [30, words('thirty')],
  [40, words('forty')],
  [45, words('forty-five')],
  [50, words('fifty')],
  [60, words('sixty')],
  [0.5, words('half|half a|half an|halben|半')],
  [24, words('twenty-four')],
  [48, words('forty-eight')],
];

/** Month number by word. */
export const MONTHS: ReadonlyMap<string, number> = byWord(MONTH_ROWS);
/** ISO weekday number (Monday 1) by word. */
export const WEEKDAYS: ReadonlyMap<string, number> = byWord(WEEKDAY_ROWS);
/** Days from today by word. */
export const DAY_OFFSETS: ReadonlyMap<string, number> = new Map(
  Object.entries(DAY_ROWS).flatMap(([days, row]) =>
    row.map((word) => [foldHan(word), Number(days)] as const),
  ),
);
/** Seconds by unit word. */
export const UNITS: ReadonlyMap<string, number> = new Map(
  UNIT_ROWS.flatMap(([seconds, row]) => row.map((word) => [foldHan(word), seconds] as const)),
);
/** Numbers written as words. */
export const NUMBERS: ReadonlyMap<string, number> = new Map(
  NUMBER_ROWS.flatMap(([number, row]) => row.map((word) => [foldHan(word), number] as const)),
);

/** The words as one alternation, longest first, so that `months` is not read as `mon`. */
export function alternation(given: Iterable<string>): string {
  return [...given]
    .sort((a, b) => b.length - a.length)
    .map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
    .join('|');
}

function byWord(rows: readonly (readonly string[])[]): ReadonlyMap<string, number> {
  return new Map(rows.flatMap((row, index) => row.map((word) => [foldHan(word), index + 1] as const)));
}

function words(joined: string): readonly string[] {
  return joined.split('|');
}
