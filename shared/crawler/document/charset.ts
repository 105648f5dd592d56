import { isUtf8 } from 'node:buffer';
import { StringDecoder } from 'node:string_decoder';
import { TextDecoder } from 'node:util';
import { HtmlReader } from '../html/reader.ts';
import { META } from '../html/tag-codes.ts';
import { END_OF_PAGE, START_TAG } from '../html/tokenizer.ts';
import { type Decoder, newDecoder } from './decoder.ts';

/** A body as text. */
export interface DecodedBody {
  readonly text: string;
  /** The encoding that was used, by its WHATWG name in lower case. */
  readonly charset: string;
}

/** A page must declare its charset within this, by the HTML standard; an XML declaration must end within it. */
const PRESCAN_BYTES = 1024;
/** Browsers also accept later declarations. Trawl does so within this. */
const LATE_BYTES = 262_144;
/** Bytes per piece when a body is decoded in pieces, which takes a few milliseconds each. */
const PIECE_BYTES = 262_144;

/** Decoders by label. Holds only labels of the Encoding standard, so the map can't grow without limit. */
const decoders = new Map<string, Decoder>();
const utf8: Decoder = new TextDecoder('utf-8');
const windows1252: Decoder = new TextDecoder('windows-1252');

/**
 * Decodes a page's body. Never fails: invalid bytes become U+FFFD. The first row that gives an encoding decides:
 *
 * | source                                                              | e.g.                              | pages | documents |
 * |---------------------------------------------------------------------|-----------------------------------|-------|-----------|
 * | byte order mark, or `<` in two bytes                                | `EF BB BF`                        | yes   | yes       |
 * | the first two characters in two bytes each, as of a list of URLs    | `68 00 74 00`                     |       | yes       |
 * | Content-Type                                                        | `text/html; charset=gbk`          | yes   | yes       |
 * | XML declaration, at the very beginning                              | `<?xml version="1.0" encoding=…?>`| yes   | yes       |
 * | `<meta charset>` or `http-equiv`, in the first 1024 bytes           | `<meta charset=shift_jis>`        | yes   |           |
 * | the bytes, if they are UTF-8                                        |                                   | yes   |           |
 * | a later `<meta>` (HTML standard, section 13.2.3.5)                  | behind a long script              | yes   |           |
 * | windows-1252                                                        |                                   | yes   |           |
 * | UTF-8                                                               |                                   |       | yes       |
 *
 * A label that the Encoding standard doesn't know is ignored, and so is UTF-16 for a document that begins in another encoding. Documents are
 * sitemaps and lists (RFC 7303 section 3), read by {@link decodeStream}. A byte order mark is not part of a page's text.
 */
export function decodeBody(body: Uint8Array, contentType: string | undefined): DecodedBody {
  const decoder = decoderFor(body, contentType);
  return { text: decoder.decode(body), charset: decoder.encoding };
}

/** Returns the encoding that {@link decodeBody} would use. */
export function charsetOf(body: Uint8Array, contentType: string | undefined): string {
  return decoderFor(body, contentType).encoding;
}

/** Returns the encoding for a label, by its WHATWG name in lower case; undefined if the label is unknown. */
export function encodingOf(label: string): string | undefined {
  return labelled(label)?.encoding;
}

/** Yields the text of {@link decodeBody} in pieces, for large bodies. @param charset the body's {@link charsetOf} */
export function* decodePieces(body: Uint8Array, charset: string): Generator<string> {
  // Not the shared decoder, which other bodies may use between two pieces.
  const decoder = newDecoder(charset);
  for (let at = 0; at < body.length; at += PIECE_BYTES) {
    yield decoder.decode(body.subarray(at, at + PIECE_BYTES), { stream: true });
  }
  yield decoder.decode();
}

/** Yields the text of a document as it arrives. Holds back only its beginning, until the encoding is clear. */
export async function* decodeStream(
  body: AsyncIterable<Uint8Array>,
  contentType?: string,
): AsyncGenerator<string, void, void> {
  let decoder: StreamDecoder | undefined;
  for await (const bytes of headFirst(body)) {
    decoder ??= streamDecoder(
      byMark(bytes) ?? byZeros(bytes) ?? ofDocument(contentType) ?? byDeclaration(headOf(bytes)),
    );
    const text = decoder.write(bytes);
    if (text !== '') yield text;
  }
  const rest = decoder?.end() ?? '';
  if (rest !== '') yield rest;
}

interface StreamDecoder {
  write(bytes: Uint8Array): string;
  end(): string;
}

/** Makes a separate decoder for one body. For UTF-8 in pieces, Node.js's `StringDecoder` is faster than `TextDecoder`. */
function streamDecoder(found: Decoder = utf8): StreamDecoder {
  if (found.encoding === 'utf-8') {
    const decoder = new StringDecoder('utf8');
    return { write: (bytes) => decoder.write(bytes as Buffer), end: () => decoder.end() };
  }
  const decoder = newDecoder(found.encoding);
  return { write: (bytes) => decoder.decode(bytes, { stream: true }), end: () => decoder.decode() };
}

/** Yields the same body, with a first piece long enough to show its encoding. */
async function* headFirst(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, void> {
  let head: Uint8Array | undefined = new Uint8Array();
  for await (const bytes of body) {
    if (head === undefined) {
      yield bytes;
      continue;
    }
    head = head.length === 0 ? bytes : Buffer.concat([head, bytes]);
    if (!saysEnough(head)) continue;
    yield head;
    head = undefined;
  }
  if (head !== undefined && head.length > 0) yield head;
}

/** Returns whether these bytes are enough to see a byte order mark, and the XML declaration if there is one. */
function saysEnough(bytes: Uint8Array): boolean {
  if (bytes.length < 4) return false;
  if (bytes.length >= PRESCAN_BYTES || byMark(bytes) !== undefined) return true;
  const text = headOf(bytes).trimStart();
  return text !== '' && (!text.startsWith('<') || text.includes('>'));
}

function decoderFor(body: Uint8Array, contentType: string | undefined): Decoder {
  return byMark(body) ?? labelled(charsetIn(contentType)) ?? byPrescan(body) ?? byBytes(body);
}

/** Returns the encoding shown by a byte order mark, or by a `<` in two bytes. */
function byMark(body: Uint8Array): Decoder | undefined {
  const [first, second, third, fourth] = body;
  if (first === 0xef && second === 0xbb && third === 0xbf) return utf8;
  if (first === 0xff && second === 0xfe) return labelled('utf-16le');
  if (first === 0xfe && second === 0xff) return labelled('utf-16be');
  if (first === 0x3c && second === 0 && fourth === 0) return labelled('utf-16le');
  if (first === 0 && second === 0x3c && third === 0) return labelled('utf-16be');
  return undefined;
}

/** Returns the encoding in which the first two characters are ASCII, in two bytes each. In no other encoding is any byte of a text zero. */
function byZeros([first, second, third, fourth]: Uint8Array): Decoder | undefined {
  const isIn = (high: number | undefined, low: number | undefined): boolean =>
    high === 0 && low !== 0 && low !== undefined && low < 0x80;
  if (isIn(second, first) && isIn(fourth, third)) return labelled('utf-16le');
  if (isIn(first, second) && isIn(third, fourth)) return labelled('utf-16be');
  return undefined;
}

/**
 * Returns the encoding that a document's media type names. UTF-16 is ignored: every sitemap, feed and list begins with ASCII, so in UTF-16 it
 * would have been recognised by its bytes.
 */
function ofDocument(contentType: string | undefined): Decoder | undefined {
  const decoder = labelled(charsetIn(contentType));
  return decoder?.encoding.startsWith('utf-16') ? undefined : decoder;
}

function byPrescan(body: Uint8Array): Decoder | undefined {
  const head = headOf(body);
  return byDeclaration(head) ?? byMeta(head);
}

function byDeclaration(head: string): Decoder | undefined {
  return asciiBased(/^\s*<\?xml[^>]*?\sencoding\s*=\s*["']\s*([\w.:-]+)/i.exec(head)?.[1]);
}

/** Returns the bytes in which an encoding can be declared, as characters. */
function headOf(body: Uint8Array, bytes = PRESCAN_BYTES): string {
  return Buffer.from(body.buffer, body.byteOffset, Math.min(body.length, bytes)).toString('latin1');
}

/** Returns the charset that a `meta` element names. */
function declaredBy(attribute: (name: string) => string | undefined): string | undefined {
  const isContentType = attribute('http-equiv')?.toLowerCase() === 'content-type';
  return attribute('charset') ?? (isContentType ? charsetIn(attribute('content')) : undefined);
}

/** Returns the `charset` parameter of a media type, quoted or not. */
function charsetIn(contentType: string | undefined): string | undefined {
  return /charset\s*=\s*(?:["']\s*)?([^\s;"',]+)/i.exec(contentType ?? '')?.[1];
}

/**
 * Returns the encoding that a declaration in the text means (HTML standard, "prescan a byte stream"). If it is readable as ASCII it can't be
 * in UTF-16, so that label means UTF-8; `x-user-defined` means windows-1252.
 */
function asciiBased(label: string | undefined): Decoder | undefined {
  const decoder = labelled(label);
  if (decoder?.encoding === 'x-user-defined') return windows1252;
  return decoder?.encoding.startsWith('utf-16') ? utf8 : decoder;
}

function byBytes(body: Uint8Array): Decoder {
  if (isUtf8(body)) return utf8;
  return (body.length > PRESCAN_BYTES ? byMeta(headOf(body, LATE_BYTES)) : undefined) ?? windows1252;
}

/** Returns the encoding of the first `meta` element that declares a known one. Markup in scripts, comments and attributes is none. */
function byMeta(head: string): Decoder | undefined {
  const reader = new HtmlReader(head, false);
  for (let token = reader.next(); token !== END_OF_PAGE; token = reader.next()) {
    if (token !== START_TAG || reader.tokenizer.code !== META || !reader.isHtml || reader.isInert) continue;
    const decoder = asciiBased(declaredBy((name) => reader.tokenizer.attribute(name)));
    if (decoder !== undefined) return decoder;
  }
  return undefined;
}

function labelled(label: string | undefined): Decoder | undefined {
  if (label === undefined) return undefined;
  const name = label.trim().toLowerCase();
  const known = decoders.get(name);
  if (known !== undefined) return known;
  try {
    const decoder = newDecoder(name);
    decoders.set(name, decoder);
    return decoder;
  } catch {
    return undefined;
  }
}
