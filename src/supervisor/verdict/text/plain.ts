/** A text made ready for reading: cut, without control codes, with one spelling per character. */
export interface PlainText {
  /** As printed, but without ANSI codes and odd spaces. Case and line ends are kept. */
  readonly shown: string;
  /** `shown` in lower case without Latin and Cyrillic diacritics; what the rules read. */
  readonly folded: string;
}

const HEAD = 32 * 1024;
const TAIL = 32 * 1024;

/** Keeps the head and the tail of a text that is longer than 64 KiB: a failure is said first or last. */
export function cutMiddle(text: string): string {
  return text.length <= HEAD + TAIL ? text : `${text.slice(0, HEAD)}\n${text.slice(-TAIL)}`;
}

/** Makes a text ready for reading. Linear in the length of the text. */
export function plainText(text: string): PlainText {
  const shown = oneSpelling(withoutControlCodes(text));
  return {
    shown,
    get folded() {
      return fold(shown);
    },
  };
}

const TRADITIONAL =
  '達額數盡過請時間後試週個鐘點號復頻網連線錯誤費餘帳戶錄權長內審務載將於為無發訊資訂閱購買證驗會話斷開關閉負擔關聯題據參單種準儲戲縮異';
const SIMPLIFIED =
  '达额数尽过请时间后试周个钟点号复频网连线错误费余账户录权长内审务载将于为无发讯资订阅购买证验会话断开关闭负担关联题据参单种准储戏缩异';
const HAN: ReadonlyMap<string, string> = new Map(
  [...TRADITIONAL].map((character, at) => [character, [...SIMPLIFIED][at] ?? character]),
);

const HAN_LETTERS = new RegExp(`[${TRADITIONAL}]`, 'g');

/** One spelling for characters that Chinese and Japanese write in two ways; texts and tables both go through it. */
export function foldHan(text: string): string {
  return text.replace(HAN_LETTERS, (character) => HAN.get(character) ?? character);
}

/** Lower case, without the marks on Latin, Greek and Cyrillic letters, so that a table needs one spelling per word. */
export function fold(text: string): string {
  const lower = text.toLowerCase();

  if (/^[\x00-\x7f]*$/.test(lower)) return lower;
  return foldHan(lower)
    .normalize('NFD')
    .replace(/[\u0300-\u036f]/g, '')
    .normalize('NFC')
    .replace(/ı/g, 'i')
    .replace(/đ/g, 'd')
    .replace(/ł/g, 'l')
    .replace(/ø/g, 'o')
    .replace(/æ/g, 'ae')
    .replace(/œ/g, 'oe')
    .replace(/ß/g, 'ss');
}

function withoutControlCodes(text: string): string {
  let plain = text;
  if (plain.includes('\x1b') || plain.includes('\x9b')) {
    plain = plain

      .replace(/\x1b\][^\x07\x1b]{0,2048}(?:\x07|\x1b\\)?/g, '')

      .replace(/(?:\x1b\[|\x9b)[0-9;:?<=>]{0,32}[ -/]{0,4}[@-~]/g, '')

      .replace(/\x1b[ -~]?/g, '');
  }
  // The escape byte is lost where a log was copied from a screen; a colour code is still no word.
  if (plain.includes('[')) plain = plain.replace(/\[(?:\d{1,3}(?:;\d{1,3}){0,4})?m/g, '');
  if (plain.includes('\r')) plain = plain.replace(/\r\n?/g, '\n');

  return plain.replace(/[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]/g, '');
}

const QUOTES: Readonly<Record<string, string>> = {
  '‘': "'",
  '’': "'",
  '‚': "'",
  '‛': "'",
  '′': "'",
  ʼ: "'",
  '“': '"',
  '”': '"',
  '„': '"',
  '«': '"',
  '»': '"',
  '–': '-',
  '—': '-',
  '‐': '-',
  '‑': '-',
  '−': '-',
  '∶': ':',
  '、': ',',
};

function oneSpelling(text: string): string {
  // An event line that was scanned without JSON decoding still has its escapes.
  const decoded = text.includes('\\u')
    ? text.replace(/\\u([0-9a-fA-F]{4})/g, (_all, hex: string) => printable(parseInt(hex, 16)))
    : text;

  if (/^[\x00-\x7f]*$/.test(decoded)) return decoded;

  return decoded.replace(/[^\x00-\x7f]/g, (character) => {
    const code = character.charCodeAt(0);
    if (code >= 0xff01 && code <= 0xff5e) return String.fromCharCode(code - 0xfee0);
    if (code >= 0x0660 && code <= 0x0669) return String.fromCharCode(code - 0x0660 + 48);
    if (code >= 0x06f0 && code <= 0x06f9) return String.fromCharCode(code - 0x06f0 + 48);
    if (code >= 0x0966 && code <= 0x096f) return String.fromCharCode(code - 0x0966 + 48);
    if (code >= 0x09e6 && code <= 0x09ef) return String.fromCharCode(code - 0x09e6 + 48);
    if (
      code === 0xa0 ||
      (code >= 0x2000 && code <= 0x200a) ||
      code === 0x202f ||
      code === 0x205f ||
      code === 0x3000
    ) {
      return ' ';
    }
    if (
      code === 0xad ||
      (code >= 0x200b && code <= 0x200f) ||
      (code >= 0x202a && code <= 0x202e) ||
      code === 0xfeff
    ) {
      return '';
    }
    if ((code >= 0x2066 && code <= 0x2069) || code === 0x2060) return '';
    return QUOTES[character] ?? character;
  });
}

function printable(code: number): string {
  return code < 0x20 || (code >= 0xd800 && code <= 0xdfff) ? ' ' : String.fromCharCode(code);
}
