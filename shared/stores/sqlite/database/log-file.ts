import { closeSync, openSync, readSync } from 'node:fs';

/** Sizes of https://www.sqlite.org/fileformat2.html#walformat, and where its fields are, in bytes. */
const HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
const PAGE_SIZE_AT = 8;
const SALTS_AT = { header: 16, frame: 8 } as const;
const SALTS_BYTES = 8;

/** What a page takes in the log. */
function frameBytes(pageBytes: number): number {
  return FRAME_HEADER_BYTES + pageBytes;
}

/**
 * Does a write-ahead log hold more than `bytes`? Its file never shrinks: once the log has begun anew, what was written before
 * is still behind it, with other salts than its header has.
 */
export function isLogLonger(path: string, bytes: number): boolean {
  let file: number;
  try {
    // Safe to open and close: SQLite's locks are on its other files.
    file = openSync(path, 'r');
  } catch {
    return false;
  }
  try {
    const header = Buffer.alloc(HEADER_BYTES);
    if (readSync(file, header, 0, HEADER_BYTES, 0) < HEADER_BYTES) return false;
    const frame = Buffer.alloc(FRAME_HEADER_BYTES);
    const each = frameBytes(header.readUInt32BE(PAGE_SIZE_AT));
    const at = HEADER_BYTES + Math.floor(bytes / each) * each;
    if (readSync(file, frame, 0, FRAME_HEADER_BYTES, at) < FRAME_HEADER_BYTES) return false;
    return saltsOf(header, SALTS_AT.header).equals(saltsOf(frame, SALTS_AT.frame));
  } finally {
    closeSync(file);
  }
}

function saltsOf(bytes: Buffer, at: number): Buffer {
  return bytes.subarray(at, at + SALTS_BYTES);
}
