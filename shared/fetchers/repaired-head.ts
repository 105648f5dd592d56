/** A head that the parsers of Node.js and undici accept, as most are: every line is a name and a value. */
const SOUND = /^HTTP\/1\.[01] [2-9]\d\d(?: [^\r\n]*)?\r\n(?:[!#$%&'*+.^_`|~0-9A-Za-z-]+:[^\r\n]*\r\n)*\r\n$/;
/** Headers that give the length of a body. */
const LENGTHS = /\n(?:content-length|transfer-encoding):[^\r\n]*/gi;
const SOUND_LENGTH = /^\n(?:content-length:[ \t]*\d{1,15} *|transfer-encoding:[ \t]*chunked)$/i;
/** Status lines of answers without a body, whatever their headers say (RFC 9112 section 6.3). */
const BODILESS = /^HTTP\/1\.[01] (?:204|304)/;
/** RFC 9110 section 5.6.2. */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** Lines that browsers accept as a status line. */
const STATUS_LINE = /^http\/(\d+)(\.\d+)?[ \t]+0{0,9}([1-9]\d\d)(?!\d)(.*)$/i;

interface Header {
  /** In lower case. */
  readonly name: string;
  readonly value: string;
}

/**
 * Returns the head of an answer, repaired if browsers accept it and the parsers of Node.js don't; any other head is returned unchanged.
 *
 * | in the head                                                | becomes                                          |
 * |------------------------------------------------------------|--------------------------------------------------|
 * | a line without a colon, or with a name that is no token    | nothing                                          |
 * | blanks before a colon; a carriage return within a line     | nothing; a blank                                 |
 * | a folded line                                              | one line                                         |
 * | several equal `Content-Length`, or one with a tab behind it | one                                             |
 * | one beside a `Transfer-Encoding`, or that is no number     | nothing (RFC 9112 section 6.3)                   |
 * | an empty `Transfer-Encoding`, or `identity` in one         | nothing: in RFC 2616 it meant "no coding"         |
 * | a body's length in a 204 or 304                            | `Connection: close`, since the body would be read as the next answer |
 * | a status line such as `http/1.1 200`, `HTTP/2 200OK`       | `HTTP/1.1 200`                                   |
 *
 * @param head the head with the empty line at its end, decoded as Latin-1
 */
export function repairedHead(head: string): string {
  if (isSoundHead(head)) return head;
  const [first = '', ...rest] = head.split('\n').map((line) => line.replace(/\r{1,3}$/, '').replaceAll('\r', ' '));
  const status = statusLine(first);
  const known = withOneLength(headersOf(rest));
  const headers = BODILESS.test(status) ? withoutBody(known) : known;
  return [status, ...headers.map(({ name, value }) => `${name}:${value}`), '', ''].join('\r\n');
}

/** Returns whether this is the head of a final answer that needs no repair. */
export function isSoundHead(head: string): boolean {
  if (!SOUND.test(head)) return false;
  const [first, second] = head.match(LENGTHS) ?? [];
  return first === undefined || (second === undefined && SOUND_LENGTH.test(first) && !BODILESS.test(head));
}

/** Repairs a status line. One that browsers don't accept either is left as it is, and the parser refuses it. */
function statusLine(line: string): string {
  const [, major, minor = '.0', status, reason = ''] = STATUS_LINE.exec(line) ?? [];
  if (status === undefined) return line;
  const version = major === '1' && minor === '.0' ? '1.0' : '1.1';
  return `HTTP/${version} ${status} ${reason.trim()}`;
}

function headersOf(lines: readonly string[]): Header[] {
  const headers: { name: string; value: string }[] = [];
  for (const line of lines) {
    const last = headers.at(-1);
    const colon = line.indexOf(':');
    const name = line.slice(0, Math.max(0, colon)).trimEnd();
    if (/^[ \t]/.test(line)) {
      if (last !== undefined) last.value += ` ${line.trim()}`;
    } else if (TOKEN.test(name)) headers.push({ name: name.toLowerCase(), value: line.slice(colon + 1) });
  }
  return headers;
}

function withOneLength(headers: readonly Header[]): readonly Header[] {
  const codings = valuesOf(headers, 'transfer-encoding').filter((coding) => coding !== '' && coding !== 'identity');
  const [length, ...differing] = new Set(valuesOf(headers, 'content-length'));
  const isNumber = length !== undefined && /^\d{1,15}$/.test(length);
  const others = headers.filter(({ name }) => name !== 'content-length' && name !== 'transfer-encoding');
  if (codings.length > 0) return [...others, { name: 'transfer-encoding', value: codings.join(', ') }];
  // Several different lengths are left for the parser to refuse, as browsers do.
  if (isNumber && differing.length > 0) return headers.filter(({ name }) => name !== 'transfer-encoding');
  return isNumber ? [...others, { name: 'content-length', value: length }] : others;
}

function withoutBody(headers: readonly Header[]): readonly Header[] {
  const saysBody = headers.some(
    ({ name, value }) => name === 'transfer-encoding' || (name === 'content-length' && Number(value) !== 0),
  );
  return saysBody
    ? [...headers.filter(({ name }) => name !== 'connection'), { name: 'connection', value: 'close' }]
    : headers;
}

/** Returns the values of a header, whether on one line or on several. */
function valuesOf(headers: readonly Header[], wanted: string): string[] {
  return headers
    .filter(({ name }) => name === wanted)
    .flatMap(({ value }) => value.split(','))
    .map((value) => value.trim().toLowerCase());
}
