import { pipeline, type Transform } from 'node:stream';
import zlib from 'node:zlib';
import { exceedsAllowance } from '../../task/task/coding-allowance.ts';
import { beginsFrame, ZstdFrames } from './zstd-frames.ts';

/** The codings that requests accept: the readable ones of {@link CODINGS}. */
export const ACCEPT_ENCODING = 'gzip, deflate, br, zstd';

/**
 * A coding that can be decoded. `claimed-gzip` is gzip named by a `Transfer-Encoding`. No request asks for it, browsers don't know it, and
 * some servers name it without applying it, so the body is decoded only if it begins as gzip does.
 */
export type Coding = 'gzip' | 'deflate' | 'br' | 'zstd' | 'claimed-gzip';

/**
 * The codings that a Content-Encoding can name (RFC 9110 section 8.4.1, and IANA's registry). Any other word, such as `utf-8`, is a
 * server's mistake about a body that is not coded; it is ignored, as in browsers.
 */
const CODINGS: ReadonlyMap<string, Exclude<Coding, 'claimed-gzip'> | 'unreadable'> = new Map([
  ['gzip', 'gzip'],
  ['x-gzip', 'gzip'],
  ['deflate', 'deflate'],
  ['br', 'br'],
  ['zstd', 'zstd'],
  ['compress', 'unreadable'],
  ['x-compress', 'unreadable'],
  ['pack200-gzip', 'unreadable'],
  ['exi', 'unreadable'],
  ['aes128gcm', 'unreadable'],
  ['dcb', 'unreadable'],
  ['dcz', 'unreadable'],
]);

/** No honest server applies more codings than this. */
const MAX_CODINGS = 2;

/** Bytes given to a decoder at a time; its output is checked in between. */
const STEP_BYTES = 65_536;

/** RFC 9659: a sender may not require a `zstd` window above 8 MB. */
const ZSTD = { params: { [zlib.constants.ZSTD_d_windowLogMax]: 23 } };

/** A `Transfer-Encoding` that names gzip (RFC 9112 section 7). */
const TRANSFER_GZIP = /(?:^|[,\s])(?:x-)?gzip(?:[,;\s]|$)/i;
/** The first byte of gzip data, with which no text begins. */
const GZIP_BEGINS = 0x1f;

/**
 * Returns the codings of a body, the outermost first, or nothing if one of them can't be decoded.
 *
 * @param content its `Content-Encoding`
 * @param transfer its `Transfer-Encoding`
 */
export function codingsOf(
  content: string | undefined,
  transfer: string | readonly string[] | undefined,
): readonly Coding[] | undefined {
  const codings = contentCodings(content);
  if (codings === undefined || codings.length === MAX_CODINGS) return codings;
  if (transfer === undefined || !TRANSFER_GZIP.test(String(transfer))) return codings;
  // The transfer coding is the outermost. If both are gzip, the second can be a mere claim.
  return codings[0] === 'gzip' ? ['gzip', 'claimed-gzip'] : ['claimed-gzip', ...codings];
}

function contentCodings(header: string | undefined): readonly Coding[] | undefined {
  if (header === undefined) return [];
  const known = header
    .toLowerCase()
    .split(',')
    .map((word) => CODINGS.get(word.trim()))
    .filter((coding) => coding !== undefined)
    .reverse();
  const codings = known.filter((coding) => coding !== 'unreadable');
  return codings.length < known.length || codings.length > MAX_CODINGS ? undefined : codings;
}

/** A coded body that decodes to next to nothing: see {@link exceedsAllowance}. */
class EmptyCodingError extends Error {
  override readonly name = 'EmptyCodingError';
  readonly code = 'ERR_EMPTY_CODING';

  constructor(coding: Coding, codedBytes: number, contentBytes: number) {
    super(`The body's ${coding} data have almost no content: ${codedBytes} bytes of them gave ${contentBytes}`);
  }
}

/**
 * Decodes a whole body in one call, which costs far less than a stream. It blocks, so use it only for small bodies.
 *
 * @returns nothing for a body that only {@link decodeStream} reads to its end
 * @throws zlib's errors; `ERR_BUFFER_TOO_LARGE` as soon as the output exceeds `maxBytes`
 */
export function decodeWhole(body: Uint8Array, coding: Coding, maxBytes: number): Uint8Array | undefined {
  if (body.length === 0) return body;
  if (isOnlyClaimed(coding, body)) return body.length <= maxBytes ? body : undefined;
  return inflate(body, coding, maxBytes);
}

/**
 * Decodes a body as it arrives. Fails with zlib's error, the body's own, or an {@link EmptyCodingError}: the allowance is checked for each
 * coding, whether outer or inner.
 *
 * @param checkpoint called at each step of each coding; if it throws, the body ends with that error
 */
export function decodeStream(
  body: AsyncIterable<Uint8Array>,
  codings: readonly Coding[],
  checkpoint: () => void,
): AsyncIterable<Uint8Array> {
  return codings.reduce((coded, coding) => inflateStream(coded, coding, checkpoint), body);
}

function inflate(coded: Uint8Array, coding: Coding, maxOutputLength: number): Uint8Array | undefined {
  switch (coding) {
    case 'br':
      return zlib.brotliDecompressSync(coded, { maxOutputLength });
    case 'zstd':
      return inflateFrame(coded, maxOutputLength);
    default:
      return isRawDeflate(coding, coded)
        ? zlib.inflateRawSync(coded, { maxOutputLength })
        : zlib.unzipSync(coded, { maxOutputLength });
  }
}

/** Returns the content of a single `zstd` frame, or nothing if more frames follow. */
function inflateFrame(coded: Uint8Array, maxOutputLength: number): Uint8Array | undefined {
  const options = { ...ZSTD, maxOutputLength, info: true };
  // Missing from Node.js's types: with `info`, the result includes how far the decoder has read.
  const { buffer, engine } = zlib.zstdDecompressSync(coded, options) as unknown as {
    readonly buffer: Uint8Array;
    readonly engine: { readonly bytesWritten: number };
  };
  return beginsFrame(coded.subarray(engine.bytesWritten)) ? undefined : buffer;
}

async function* inflateStream(
  body: AsyncIterable<Uint8Array>,
  coding: Coding,
  checkpoint: () => void,
): AsyncGenerator<Uint8Array> {
  const chunks = body[Symbol.asyncIterator]();
  const first = await chunks.next();
  // Some servers declare a coding for an empty body.
  if (first.done) return;
  if (isOnlyClaimed(coding, first.value)) {
    yield first.value;
    yield* { [Symbol.asyncIterator]: () => chunks };
    return;
  }
  const decoder = newDecoder(coding, first.value);
  let codedBytes = 0;
  let contentBytes = 0;
  const frames = coding === 'zstd' ? new ZstdFrames() : undefined;
  const stepsOf = function* (chunk: Uint8Array): Generator<Uint8Array> {
    for (let at = 0; at < chunk.length; at += STEP_BYTES) {
      checkpoint();
      if (exceedsAllowance(codedBytes, contentBytes)) throw new EmptyCodingError(coding, codedBytes, contentBytes);
      const step = chunk.subarray(at, at + STEP_BYTES);
      codedBytes += step.length;
      if (frames === undefined) yield step;
      else yield* frames.cut(step);
    }
  };
  const coded = async function* (): AsyncGenerator<Uint8Array> {
    try {
      yield* stepsOf(first.value);
      for (let next = await chunks.next(); !next.done; next = await chunks.next()) yield* stepsOf(next.value);
    } finally {
      await chunks.return?.();
    }
  };
  // Errors of both ends surface in the loop below; handling them here would report them twice.
  pipeline(coded, decoder, () => {});
  try {
    for await (const piece of decoder) {
      checkpoint();
      contentBytes += piece.length;
      yield piece;
    }
  } finally {
    decoder.destroy();
  }
}

function isOnlyClaimed(coding: Coding, body: Uint8Array): boolean {
  return coding === 'claimed-gzip' && body[0] !== GZIP_BEGINS;
}

function newDecoder(coding: Coding, first: Uint8Array): Transform {
  if (coding === 'br') return zlib.createBrotliDecompress();
  if (coding === 'zstd') return zlib.createZstdDecompress(ZSTD);
  return isRawDeflate(coding, first) ? zlib.createInflateRaw() : zlib.createUnzip();
}

/**
 * Returns whether the body is raw deflate: some servers send `deflate` without the zlib wrapper that RFC 9110 requires. The first byte of a
 * zlib wrapper ends in hex digit 8, that of gzip in f, and no sensible raw stream begins with either.
 */
function isRawDeflate(coding: Coding, body: Uint8Array): boolean {
  const low = (body[0] ?? 0) & 0x0f;
  return coding === 'deflate' && low !== 0x08 && low !== 0x0f;
}
