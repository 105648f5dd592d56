import { pipeline, type Transform } from 'node:stream';
import zlib from 'node:zlib';

/** What a request says it can read: the codings of the table below. */
export const ACCEPT_ENCODING = 'gzip, deflate, br, zstd';

/** One content coding that can be undone. */
export type Coding = 'gzip' | 'deflate' | 'br' | 'zstd';

/**
 * What may stand in a Content-Encoding (RFC 9110 section 8.4.1, and IANA's registry). Any other word, `utf-8` say, is a
 * server's mistake about a body that is not coded, and is passed over, as browsers do.
 */
const CODINGS: Readonly<Record<string, Coding | 'unreadable'>> = {
  gzip: 'gzip',
  'x-gzip': 'gzip',
  deflate: 'deflate',
  br: 'br',
  zstd: 'zstd',
  compress: 'unreadable',
  'x-compress': 'unreadable',
  'pack200-gzip': 'unreadable',
  exi: 'unreadable',
  aes128gcm: 'unreadable',
  dcb: 'unreadable',
  dcz: 'unreadable',
};

/** Nobody codes a body more often than this, but to wear us out. */
const MOST_CODINGS = 2;

/** RFC 9659: no sender may ask a reader of `zstd` for a window above 8 MB. */
const ZSTD = { params: { [zlib.constants.ZSTD_d_windowLogMax]: 23 } };

/** The codings of a body, the outermost first; nothing if one of them can't be undone. */
export function codingsOf(header: string | undefined): readonly Coding[] | undefined {
  if (header === undefined) return [];
  const known = header
    .toLowerCase()
    .split(',')
    .map((word) => CODINGS[word.trim()])
    .filter((coding) => coding !== undefined)
    .reverse();
  const codings = known.filter((coding) => coding !== 'unreadable');
  return codings.length < known.length || codings.length > MOST_CODINGS ? undefined : codings;
}

/**
 * Undoes the codings of a whole body in one go, which costs far less than a stream. It blocks, so: for small bodies.
 * Throws zlib's errors, `ERR_BUFFER_TOO_LARGE` as soon as there are more than `maxBytes`.
 */
export function decodeWhole(body: Uint8Array, codings: readonly Coding[], maxBytes: number): Uint8Array {
  return codings.reduce((coded, coding) => (coded.length === 0 ? coded : inflate(coded, coding, maxBytes)), body);
}

/** Undoes the codings of a body as it arrives. Ends with zlib's error, or the body's own. */
export function decodeStream(body: AsyncIterable<Uint8Array>, codings: readonly Coding[]): AsyncIterable<Uint8Array> {
  return codings.reduce(inflateStream, body);
}

function inflate(coded: Uint8Array, coding: Coding, maxOutputLength: number): Uint8Array {
  switch (coding) {
    case 'br':
      return zlib.brotliDecompressSync(coded, { maxOutputLength });
    case 'zstd':
      return zlib.zstdDecompressSync(coded, { ...ZSTD, maxOutputLength });
    default:
      return isRawDeflate(coding, coded)
        ? zlib.inflateRawSync(coded, { maxOutputLength })
        : zlib.unzipSync(coded, { maxOutputLength });
  }
}

async function* inflateStream(body: AsyncIterable<Uint8Array>, coding: Coding): AsyncGenerator<Uint8Array> {
  const chunks = body[Symbol.asyncIterator]();
  const first = await chunks.next();
  // Some servers declare a coding for a body that is empty.
  if (first.done) return;
  const decoder = newDecoder(coding, first.value);
  const coded = async function* (): AsyncGenerator<Uint8Array> {
    yield first.value;
    yield* { [Symbol.asyncIterator]: () => chunks };
  };
  // Errors of either end come out of the loop below; here they would only be reported twice.
  pipeline(coded, decoder, () => {});
  try {
    yield* decoder;
  } finally {
    decoder.destroy();
  }
}

function newDecoder(coding: Coding, first: Uint8Array): Transform {
  if (coding === 'br') return zlib.createBrotliDecompress();
  if (coding === 'zstd') return zlib.createZstdDecompress(ZSTD);
  return isRawDeflate(coding, first) ? zlib.createInflateRaw() : zlib.createUnzip();
}

/**
 * Some servers send `deflate` without the zlib wrapper that RFC 9110 asks for. A wrapper's first byte ends in 8, gzip's
 * in f, and no sensible raw stream begins with either.
 */
function isRawDeflate(coding: Coding, body: Uint8Array): boolean {
  const low = (body[0] ?? 0) & 0x0f;
  return coding === 'deflate' && low !== 0x08 && low !== 0x0f;
}
