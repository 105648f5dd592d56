import { StringDecoder } from 'node:string_decoder';
import { ByteSource } from './byte-source.ts';

/** An XML declaration that hasn't ended by then is none. */
const MAX_DECLARATION = 1_024;

interface Decoder {
  write(bytes: Uint8Array): string;
  end(): string;
}

/**
 * The text of a body, as it arrives. Its encoding is what the first of these says (RFC 7303 section 3): a byte order mark,
 * the Content-Type, the XML declaration; else it is UTF-8. No byte is an error: what can't be read becomes U+FFFD, and the
 * rest goes on.
 */
export async function* decoded(
  body: AsyncIterable<Uint8Array>,
  contentType?: string,
): AsyncGenerator<string, void, void> {
  const source = new ByteSource(body);
  const head = await source.peek(saysEnough);
  const decoder = decoderOf(markedEncoding(head) ?? charsetOf(contentType) ?? declaredEncoding(head));
  for await (const bytes of source) {
    const text = decoder.write(bytes);
    if (text !== '') yield text;
  }
  const rest = decoder.end();
  if (rest !== '') yield rest;
}

/** Enough to see a byte order mark, and the XML declaration if there is one. */
function saysEnough(head: Uint8Array): boolean {
  if (head.length < 4) return false;
  if (head.length >= MAX_DECLARATION || markedEncoding(head) !== undefined) return true;
  const text = asciiOf(head).trimStart();
  return text !== '' && (!text.startsWith('<') || text.includes('>'));
}

function asciiOf(head: Uint8Array): string {
  return Buffer.from(head.buffer, head.byteOffset, Math.min(head.length, MAX_DECLARATION))
    .toString('latin1')
    .replace(/^\u00ef\u00bb\u00bf/, '');
}

/** A byte order mark, or `<` in two bytes without one. */
function markedEncoding([first, second, third, fourth]: Uint8Array): string | undefined {
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  if (first === 0xfe && second === 0xff) return 'utf-16be';
  if (first === 0xef && second === 0xbb && third === 0xbf) return 'utf-8';
  if (first === 0x3c && second === 0 && fourth === 0) return 'utf-16le';
  if (first === 0 && second === 0x3c && third === 0) return 'utf-16be';
  return undefined;
}

function declaredEncoding(head: Uint8Array): string | undefined {
  const encoding = /^\s*<\?xml\s[^>]*?encoding\s*=\s*["']\s*([\w.:-]+)/i.exec(asciiOf(head))?.[1]?.toLowerCase();
  // A declaration that can be read byte by byte is not in UTF-16, whatever it says.
  return encoding?.startsWith('utf-16') || encoding?.startsWith('ucs-2') ? 'utf-8' : encoding;
}

function charsetOf(contentType = ''): string | undefined {
  return /;\s*charset\s*=[\s"']*([\w.:-]+)/i.exec(contentType)?.[1]?.toLowerCase();
}

function decoderOf(encoding = 'utf-8'): Decoder {
  if (encoding !== 'utf-8' && encoding !== 'utf8') {
    try {
      const decoder = new TextDecoder(encoding);
      return { write: (bytes) => decoder.decode(bytes, { stream: true }), end: () => decoder.decode() };
    } catch {
      // A label that nobody knows.
    }
  }
  const decoder = new StringDecoder('utf8');
  return { write: (bytes) => decoder.write(bytes as Buffer), end: () => decoder.end() };
}
