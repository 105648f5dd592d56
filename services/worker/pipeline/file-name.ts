import { decodeExtended, parse } from 'content-disposition';
import mime from 'mime';

/** A usable file ending. The rest of a name can be anything. */
const ENDING = /\.([a-z0-9]{1,10})$/i;
/** Types that servers use for any file. */
const VAGUE: ReadonlySet<string | undefined> = new Set([
  undefined,
  'application/octet-stream',
  'application/x-download',
  'application/force-download',
  'binary/octet-stream',
  'text/plain',
]);

/** Characters that no file system shows as they are, or that Windows forbids in names; and halves of surrogate pairs, which UTF-8 can't encode. */
const UNUSABLE = /[\p{Cc}\p{Cs}\p{Bidi_Control}\u2028\u2029<>:"|?*]/gu;
/** Names of devices on Windows, with or without an ending. */
const RESERVED = /^(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?=\.|$)/i;
const BEYOND_LATIN1 = /[^\x00-\xff]/;
/** Maximum bytes of a name in UTF-8: file systems accept no longer one. */
const MOST_NAME_BYTES = 255;

/** The parts of an answer from which its file gets a name. */
interface Named {
  readonly disposition: string | undefined;
  /** The URL it finally came from. */
  readonly url: string;
}

/**
 * Returns the names that the host gives a file, the best first: the one in its `Content-Disposition` (RFC 6266), then the end of its URL.
 * Each is a valid name on any system: without a path, without unusable characters, and not too long.
 */
export function fileNamesOf({ disposition, url }: Named): readonly string[] {
  const given = disposition === undefined ? undefined : nameIn(disposition);
  return [given, endOf(url)].map((name) => (name === undefined ? '' : usable(name))).filter((name) => name !== '');
}

/**
 * Returns the ending of a stored file, without a dot: that of the first name whose ending fits the type, otherwise the usual one of the
 * type. Returns nothing if neither is known.
 */
export function extensionOf(contentType: string | undefined, names: readonly string[]): string | undefined {
  const written = names
    .map((name) => ENDING.exec(name)?.[1]?.toLowerCase())
    .find((ending) => fits(ending, contentType));
  if (written !== undefined) return written;
  return contentType === undefined ? undefined : (mime.getExtension(contentType) ?? undefined);
}

function fits(ending: string | undefined, contentType: string | undefined): boolean {
  const known = ending === undefined ? null : mime.getType(ending);
  return known !== null && (VAGUE.has(contentType) || known === contentType);
}

/**
 * Returns the name in a header. `filename*` (RFC 8187) is preferred to `filename`, which many servers write in UTF-8 although the standard
 * says ISO 8859-1.
 */
function nameIn(disposition: string): string | undefined {
  const { filename, 'filename*': extended } = parse(disposition, { extended: false }).parameters;
  const decoded = extended === undefined ? undefined : decodeExtended(extended);
  if (decoded !== undefined || filename === undefined) return decoded;
  // A middleware's answer can contain any text.
  if (BEYOND_LATIN1.test(filename)) return filename;
  const text = Buffer.from(filename, 'latin1').toString('utf8');
  return text.includes('\ufffd') ? filename : text;
}

function endOf(url: string): string {
  const end = lastOf(new URL(url).pathname);
  try {
    return decodeURIComponent(end);
  } catch {
    return end;
  }
}

function lastOf(path: string): string {
  return path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1);
}

function usable(name: string): string {
  const shown = trimmed(lastOf(name).replace(UNUSABLE, '_'));
  const free = RESERVED.test(shown) ? `_${shown}` : shown;
  if (Buffer.byteLength(free) <= MOST_NAME_BYTES) return free;
  const ending = ENDING.exec(free)?.[0] ?? '';
  return cut(free.slice(0, free.length - ending.length), MOST_NAME_BYTES - ending.length) + ending;
}

/** Removes dots and blanks from both ends: they would hide the file, or Windows would drop them. */
function trimmed(name: string): string {
  const isSpare = (at: number): boolean => /[.\s]/.test(name.charAt(at));
  let [start, end] = [0, name.length];
  while (start < end && isSpare(start)) start++;
  while (end > start && isSpare(end - 1)) end--;
  return name.slice(start, end);
}

/** Returns the longest beginning of whole characters that has at most this many bytes. */
function cut(name: string, bytes: number): string {
  const { read } = new TextEncoder().encodeInto(name, new Uint8Array(bytes));
  return name.slice(0, read);
}
