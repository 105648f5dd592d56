import { decodeExtended, parse } from 'content-disposition';
import mime from 'mime';

/** What an ending may be made of: the rest of a name may be anything. */
const ENDING = /\.([a-z0-9]{1,10})$/i;
/** Types that servers give to anything. */
const VAGUE: ReadonlySet<string | undefined> = new Set([
  undefined,
  'application/octet-stream',
  'application/x-download',
  'application/force-download',
  'binary/octet-stream',
  'text/plain',
]);

/** What no file system shows as it is, or Windows allows in no name; and halves of surrogate pairs, which no UTF-8 has. */
const UNUSABLE = /[\p{Cc}\p{Cs}\p{Bidi_Control}\u2028\u2029<>:"|?*]/gu;
/** Names of devices on Windows, whatever ending they have. */
const RESERVED = /^(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?=\.|$)/i;
const BEYOND_LATIN1 = /[^\x00-\xff]/;
/** Of a name, in UTF-8: file systems take no longer one. */
const MOST_NAME_BYTES = 255;

/** What an answer says of the name of its file. */
interface Named {
  readonly disposition: string | undefined;
  /** That it came from, in the end. */
  readonly url: string;
}

/**
 * The names that a file has from its host, the best first: that in its `Content-Disposition` (RFC 6266), then the end of its URL.
 * Each is the name of a file in some folder, on any system: without a path, without what is unusable there, and not too long.
 */
export function fileNamesOf({ disposition, url }: Named): readonly string[] {
  const given = disposition === undefined ? undefined : nameIn(disposition);
  return [given, endOf(url)].map((name) => (name === undefined ? '' : usable(name))).filter((name) => name !== '');
}

/**
 * The ending of a stored file, without a dot: that of the first of its names whose ending fits the type, else the usual one of the
 * type. Nothing if neither is known.
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

/** `filename*` (RFC 8187) counts before `filename`, which many servers write in UTF-8, though it is in ISO 8859-1 by its standard. */
function nameIn(disposition: string): string | undefined {
  const { filename, 'filename*': extended } = parse(disposition, { extended: false }).parameters;
  const decoded = extended === undefined ? undefined : decodeExtended(extended);
  if (decoded !== undefined || filename === undefined) return decoded;
  // A middleware's answer may have any text.
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

/** Without the dots and blanks that begin or end it: a hidden file, or what Windows leaves out. */
function trimmed(name: string): string {
  const isSpare = (at: number): boolean => /[.\s]/.test(name.charAt(at));
  let [start, end] = [0, name.length];
  while (start < end && isSpare(start)) start++;
  while (end > start && isSpare(end - 1)) end--;
  return name.slice(start, end);
}

/** The longest beginning of whole characters that has so many bytes at most. */
function cut(name: string, bytes: number): string {
  const { read } = new TextEncoder().encodeInto(name, new Uint8Array(bytes));
  return name.slice(0, read);
}
