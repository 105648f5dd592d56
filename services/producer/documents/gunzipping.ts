import { createInflateRaw } from 'node:zlib';
import { exceedsAllowance } from '../../../shared/task/task/coding-allowance.ts';
import { BodyError } from './body-error.ts';
import type { ByteSource } from './byte-source.ts';

/** Bytes fed to the decoder at a time. Deflate expands a byte to at most 1 032, so this bounds the output of one step. */
const STEP_BYTES = 8_192;
const FIXED_HEADER_BYTES = 10;
const TRAILER_BYTES = 8;
const MAX_NAME_BYTES = 65_536;

/**
 * Yields the content of gzip data (RFC 1952), of all consecutive members. Bytes behind the last member, such as padding or a line that a
 * server appended, are dropped.
 *
 * Node's own `Gunzip` treats such bytes as a broken member, and drops content that it has just unpacked. This one reads member by member.
 * It verifies no checksum, since a wrong one would change nothing. Data with almost no content end with a {@link BodyError}: see
 * {@link exceedsAllowance}.
 */
export async function* gunzipped(source: ByteSource): AsyncGenerator<Uint8Array, void, void> {
  try {
    if (!(await skipHeader(source))) throw brokenGzip('no whole header');
    let contentBytes = 0;
    do {
      for await (const bytes of inflatedMember(source, () => expectContent(source.taken, contentBytes))) {
        contentBytes += bytes.length;
        yield bytes;
      }
      await source.take(TRAILER_BYTES);
    } while (await skipHeader(source));
  } finally {
    await source.end();
  }
}

/** Returns whether a stream that begins with these bytes is gzip. */
export function isGzip([first, second]: Uint8Array): boolean {
  return first === 0x1f && second === 0x8b;
}

/** Takes the header of a member. Returns `false` if there is none. */
async function skipHeader(source: ByteSource): Promise<boolean> {
  const header = await source.take(FIXED_HEADER_BYTES);
  if (header === undefined || !isGzip(header)) return false;
  const flags = header[3] ?? 0;
  if (flags & 0b100) {
    const [low = 0, high = 0] = (await source.take(2)) ?? [];
    await source.take(low + high * 256);
  }
  if (flags & 0b1000) await skipName(source);
  if (flags & 0b10000) await skipName(source);
  if (flags & 0b10) await source.take(2);
  return true;
}

/** Takes a file name or a comment, which end with a zero byte. */
async function skipName(source: ByteSource): Promise<void> {
  const bytes = await source.peek((seen) => seen.includes(0) || seen.length > MAX_NAME_BYTES);
  const end = bytes.indexOf(0);
  if (end < 0) throw brokenGzip('a name without an end');
  await source.take(end + 1);
}

/** @param beforeStep called before each step; an error it throws ends the member */
async function* inflatedMember(source: ByteSource, beforeStep: () => void): AsyncGenerator<Uint8Array, void, void> {
  const inflate = createInflateRaw({ chunkSize: 65_536 });
  let output: Uint8Array[] = [];
  let failure: Error | undefined;
  let wake = (): void => {};
  inflate.on('data', (bytes: Uint8Array) => output.push(bytes));
  inflate.on('error', (error) => {
    failure = error;
    // The callback of a failed write is never called.
    wake();
  });
  try {
    for (;;) {
      beforeStep();
      const bytes = await source.next(STEP_BYTES);
      if (bytes === undefined) throw brokenGzip('unexpected end of file');
      const before = inflate.bytesWritten;
      await new Promise<void>((resolve) => {
        wake = resolve;
        inflate.write(bytes, () => resolve());
      });
      yield* output;
      output = [];
      if (failure !== undefined) throw brokenGzip(failure.message, failure);
      const used = inflate.bytesWritten - before;
      if (used < bytes.length) {
        source.unread(bytes.subarray(used));
        return;
      }
    }
  } finally {
    inflate.destroy();
  }
}

function expectContent(codedBytes: number, contentBytes: number): void {
  if (!exceedsAllowance(codedBytes, contentBytes)) return;
  throw new BodyError(`has gzip data with almost no content: ${codedBytes} bytes of them gave ${contentBytes}`);
}

function brokenGzip(how: string, cause?: Error): BodyError {
  return new BodyError(`has broken gzip data: ${how}`, { cause });
}
