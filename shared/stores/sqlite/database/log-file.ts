import { closeSync, openSync, readSync } from 'node:fs';

/** Sizes and positions of fields in a write-ahead log, in bytes: https://www.sqlite.org/fileformat2.html#walformat. */
const HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
const PAGE_SIZE_AT = 8;
const SALTS_AT = { header: 16, frame: 8 } as const;
const SALTS_BYTES = 8;

/** Returns the bytes that a page takes in the log. */
function frameBytes(pageBytes: number): number {
  return FRAME_HEADER_BYTES + pageBytes;
}

/**
 * Returns whether a write-ahead log holds more than `bytes`. The size of its file doesn't tell: when the log starts again at the
 * beginning, older frames remain behind the new ones, with salts that differ from the header's.
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
