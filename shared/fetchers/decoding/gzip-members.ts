import zlib from 'node:zlib';

/** Flags of a member's header, each announcing an optional part (RFC 1952 section 2.3.1). */
const FLAGS = { checksum: 0x02, extra: 0x04, name: 0x08, comment: 0x10 } as const;
const HEADER_BYTES = 10;
/** Bytes after the data: a checksum and a length. */
const TRAILER_BYTES = 8;

/**
 * Returns the members of a `gzip` body without the bytes behind them, such as a comment that a server adds to an already coded page.
 * Browsers ignore such bytes; the decoder of Node.js fails. Returns nothing if the members are incomplete, or nothing follows them.
 *
 * @param checkpoint called repeatedly; an error it throws ends the search
 */
export async function membersOf(coded: Uint8Array, checkpoint: () => void): Promise<Uint8Array | undefined> {
  let end = 0;
  while (beginsMember(coded, end)) {
    checkpoint();
    const start = endOfHeader(coded, end);
    const bytes = await bytesOfData(coded.subarray(start), checkpoint);
    if (bytes === undefined || start + bytes + TRAILER_BYTES > coded.length) return undefined;
    end = start + bytes + TRAILER_BYTES;
  }
  return end === 0 || end === coded.length ? undefined : coded.subarray(0, end);
}

function beginsMember(coded: Uint8Array, at: number): boolean {
  return coded[at] === 0x1f && coded[at + 1] === 0x8b && coded[at + 2] === 0x08;
}

function endOfHeader(coded: Uint8Array, start: number): number {
  const flags = coded[start + 3] ?? 0;
  let at = start + HEADER_BYTES;
  if (flags & FLAGS.extra) at += 2 + (coded[at] ?? 0) + ((coded[at + 1] ?? 0) << 8);
  if (flags & FLAGS.name) at = afterZero(coded, at);
  if (flags & FLAGS.comment) at = afterZero(coded, at);
  return flags & FLAGS.checksum ? at + 2 : at;
}

function afterZero(coded: Uint8Array, at: number): number {
  const zero = coded.indexOf(0, at);
  return zero < 0 ? coded.length : zero + 1;
}

/** Returns how many of these bytes are the data of one member, or nothing if the data are broken. */
async function bytesOfData(coded: Uint8Array, checkpoint: () => void): Promise<number | undefined> {
  const decoder = zlib.createInflateRaw();
  let isBroken = false;
  decoder.on('error', () => {
    isBroken = true;
  });
  decoder.end(coded);
  try {
    for await (const _ of decoder) checkpoint();
  } catch (error: unknown) {
    if (!isBroken) throw error;
    return undefined;
  } finally {
    decoder.destroy();
  }
  return decoder.bytesWritten;
}
