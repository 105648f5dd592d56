import { isUtf8 } from 'node:buffer';
import { TextDecoder } from 'node:util';

/** A body as text. */
export interface DecodedBody {
  readonly text: string;
  /** The encoding that was used, by its WHATWG name in lower case. */
  readonly charset: string;
}

/** Where the HTML standard wants a page's own word about its charset. */
const PRESCAN_BYTES = 1024;
/** Bytes per piece when a body is decoded in pieces: some milliseconds each. */
const PIECE_BYTES = 262_144;

/** By the label that asked for it. Only what the Encoding standard knows gets in, so that it can't grow without end. */
const decoders = new Map<string, TextDecoder>();
const utf8 = new TextDecoder('utf-8');
const windows1252 = new TextDecoder('windows-1252');

/**
 * Decodes a body. It never fails: bytes that mean nothing become U+FFFD. The first row that says something decides:
 *
 * | source                                                              | e.g.                              |
 * |---------------------------------------------------------------------|-----------------------------------|
 * | byte order mark                                                     | `EF BB BF`                        |
 * | Content-Type                                                        | `text/html; charset=gbk`          |
 * | XML declaration, at the very beginning                              | `<?xml version="1.0" encoding=…?>`|
 * | `<meta charset>` or `http-equiv`, in the first 1024 bytes           | `<meta charset=shift_jis>`        |
 * | the bytes: UTF-8 if they are, else windows-1252                     |                                   |
 *
 * A label that the Encoding standard doesn't know says nothing. A byte order mark is not part of the text.
 */
export function decodeBody(body: Uint8Array, contentType: string | undefined): DecodedBody {
  const decoder = decoderFor(body, contentType);
  return { text: decoder.decode(body), charset: decoder.encoding };
}

/** The text of {@link decodeBody} in pieces, for large bodies. */
export function* decodePieces(body: Uint8Array, contentType: string | undefined): Generator<string> {
  // Not the shared decoder, which other bodies use between two pieces.
  const decoder = new TextDecoder(decoderFor(body, contentType).encoding);
  for (let at = 0; at < body.length; at += PIECE_BYTES) {
    yield decoder.decode(body.subarray(at, at + PIECE_BYTES), { stream: true });
  }
  yield decoder.decode();
}

function decoderFor(body: Uint8Array, contentType: string | undefined): TextDecoder {
  return byMark(body) ?? labelled(charsetIn(contentType)) ?? byPrescan(body) ?? byBytes(body);
}

function byMark(body: Uint8Array): TextDecoder | undefined {
  const [first, second, third] = body;
  if (first === 0xef && second === 0xbb && third === 0xbf) return utf8;
  if (first === 0xff && second === 0xfe) return labelled('utf-16le');
  if (first === 0xfe && second === 0xff) return labelled('utf-16be');
  return undefined;
}

function byPrescan(body: Uint8Array): TextDecoder | undefined {
  const head = Buffer.from(body.buffer, body.byteOffset, Math.min(body.length, PRESCAN_BYTES)).toString('latin1');
  const declared = /^<\?xml[^>]*?\sencoding\s*=\s*["']([^"']*)["']/i.exec(head)?.[1];
  return asciiBased(declared) ?? asciiBased(metaCharset(head));
}

/** The first of the page's `meta` elements that names a charset. */
function metaCharset(head: string): string | undefined {
  for (const [, source = ''] of withoutComments(head).matchAll(/<meta[\s/]([^>]*)/gi)) {
    const attributes = attributesIn(source);
    const isContentType = attributes.get('http-equiv')?.toLowerCase() === 'content-type';
    const charset = attributes.get('charset') ?? (isContentType ? charsetIn(attributes.get('content')) : undefined);
    if (charset !== undefined) return charset;
  }
  return undefined;
}

function attributesIn(source: string): Map<string, string> {
  const attributes = new Map<string, string>();
  const pattern = /(?<=^|[\s"'/])([^\s"'/=]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"']+))/g;
  for (const [, name = '', double, single, bare] of source.matchAll(pattern)) {
    attributes.set(name.toLowerCase(), double ?? single ?? bare ?? '');
  }
  return attributes;
}

function withoutComments(head: string): string {
  return head.replace(/<!--.*?(?:-->|$)/gs, '');
}

/** The parameter of a media type, quoted or not, as in a Content-Type. */
function charsetIn(contentType: string | undefined): string | undefined {
  return /charset\s*=\s*["']?([^\s;"',]+)/i.exec(contentType ?? '')?.[1];
}

/** What could be read as ASCII so far isn't UTF-16, whatever it says (HTML standard, "prescan a byte stream"). */
function asciiBased(label: string | undefined): TextDecoder | undefined {
  const decoder = labelled(label);
  return decoder?.encoding.startsWith('utf-16') ? utf8 : decoder;
}

function byBytes(body: Uint8Array): TextDecoder {
  return isUtf8(body) ? utf8 : windows1252;
}

function labelled(label: string | undefined): TextDecoder | undefined {
  if (label === undefined) return undefined;
  const name = label.trim().toLowerCase();
  const known = decoders.get(name);
  if (known !== undefined) return known;
  try {
    const decoder = new TextDecoder(name);
    decoders.set(name, decoder);
    return decoder;
  } catch {
    return undefined;
  }
}
