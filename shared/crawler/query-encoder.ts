import type { QueryEncoder } from '../task/url/url.ts';
import { newDecoder } from './charset.ts';

/** Encodings in which a character is one byte or two. */
const OF_TWO_BYTES: ReadonlySet<string> = new Set(['gbk', 'gb18030', 'big5', 'euc-jp', 'shift_jis', 'euc-kr']);
/** The euro, and narrow katakana. Node.js reads single bytes in the others, too. */
const WITH_SINGLE_BYTES: ReadonlySet<string> = new Set(['gbk', 'shift_jis']);
/** Those for which browsers write queries in UTF-8 (Encoding standard, "get an output encoding"), and one with states, which no page has. */
const NOT_WRITTEN = /^(?:utf-|iso-2022-jp|replacement|x-user-defined)/;
const [FIRST_LEAD, LAST_BYTE, FIRST_TRAIL] = [0x81, 0xfe, 0x40];
/** Shift_JIS has the characters of these lead bytes, which are NEC's, once more as IBM's. */
const NEC_LEADS: ReadonlySet<number> = new Set([0xed, 0xee]);
/** Below it, Big5 has what Hong Kong added, which is read, and not written. */
const FIRST_BIG5_LEAD = 0xa1;
/** Big5 has these twice, and they are written as the second. */
const LAST_OF_BIG5: ReadonlySet<string> = new Set('═╞╡╪十卅');
/** Characters that Japanese encodings write as others. */
const JAPANESE: ReadonlyMap<string, string> = new Map([
  ['¥', '\\'],
  ['‾', '~'],
]);
const [MINUS, FULL_WIDTH_MINUS] = ['\u2212', '\uff0d'];
/** What stands for no character: U+FFFD, and the private use of Node.js' decoders. */
const NONE = /^[\ufffd\ue000-\uf8ff]$/;

const tables = new Map<string, ReadonlyMap<string, string>>();

/**
 * Writes the query of a link as browsers do on a page in an old encoding: in that encoding, not in UTF-8, which its server wouldn't
 * understand (URL standard, "percent-encode after encoding"). Nothing for pages in UTF-8.
 *
 * @param charset the page's encoding, by its WHATWG name in lower case
 */
export function queryEncoderOf(charset: string): QueryEncoder | undefined {
  if (NOT_WRITTEN.test(charset)) return undefined;
  return (query) => {
    const table = tableOf(charset);
    return query.replace(/[^\0-\x7f]/gu, (character) => {
      return table.get(character) ?? `%26%23${character.codePointAt(0)}%3B`;
    });
  };
}

/** The characters of an encoding, and their bytes as they stand in a query. */
function tableOf(charset: string): ReadonlyMap<string, string> {
  let table = tables.get(charset);
  if (table === undefined) {
    table = newTable(charset);
    tables.set(charset, table);
  }
  return table;
}

function newTable(charset: string): ReadonlyMap<string, string> {
  const decoder = newDecoder(charset);
  const table = new Map<string, string>();
  const add = (...bytes: readonly number[]): void => {
    const text = decoder.decode(Uint8Array.from(bytes));
    if ([...text].length !== 1 || NONE.test(text)) return;
    if (!table.has(text) || (charset === 'big5' && LAST_OF_BIG5.has(text))) table.set(text, escaped(bytes));
  };
  const isOfTwo = OF_TWO_BYTES.has(charset);
  if (!isOfTwo || WITH_SINGLE_BYTES.has(charset)) for (let byte = 0x80; byte <= 0xff; byte++) add(byte);
  if (!isOfTwo) return table;
  for (let lead = charset === 'big5' ? FIRST_BIG5_LEAD : FIRST_LEAD; lead <= LAST_BYTE; lead++) {
    if (charset === 'shift_jis' && NEC_LEADS.has(lead)) continue;
    for (let trail = FIRST_TRAIL; trail <= LAST_BYTE; trail++) add(lead, trail);
  }
  if (charset === 'shift_jis' || charset === 'euc-jp') {
    for (const [character, written] of JAPANESE) table.set(character, written);
    table.set(MINUS, table.get(FULL_WIDTH_MINUS) ?? '');
  }
  return table;
}

function escaped(bytes: readonly number[]): string {
  return bytes
    .map((byte) => (byte < 0x7f ? String.fromCharCode(byte) : `%${byte.toString(16).toUpperCase()}`))
    .join('');
}
