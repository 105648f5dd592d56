import { open } from 'node:fs/promises';

const BLOCK_BYTES = 64 * 1024;
const LINE_FEED = 10;

/** A line without its line feed, and the byte of its file at which it begins. */
export interface LastLine {
  readonly line: string;
  readonly at: number;
}

interface LastLinesOptions {
  /** Byte offset to read backwards from, where a line begins. Defaults to the end of the file, as does any offset beyond it. */
  readonly before?: number | undefined;
  /** Bytes to read at once. */
  readonly blockBytes?: number;
}

/**
 * Yields the lines of a file from its end to its beginning, without empty ones. Reads only as far as the caller iterates, and
 * holds one line and one block at a time. Rejects with the file system's error.
 */
export async function* lastLinesOf(
  path: string,
  { before = Number.POSITIVE_INFINITY, blockBytes = BLOCK_BYTES }: LastLinesOptions = {},
): AsyncGenerator<LastLine, void, void> {
  const file = await open(path);
  try {
    let start = Math.min(before, (await file.stat()).size);
    /** Parts of a line that begins in an earlier block, the last part first. */
    let parts: Buffer[] = [];
    while (start > 0) {
      const length = Math.min(blockBytes, start);
      start -= length;
      const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, start);
      let end = bytesRead;
      for (let feed = lineFeedBefore(buffer, end); feed >= 0; feed = lineFeedBefore(buffer, end)) {
        const line = textOf([...parts, buffer.subarray(feed + 1, end)]);
        if (line !== '') yield { line, at: start + feed + 1 };
        parts = [];
        end = feed;
      }
      parts.push(buffer.subarray(0, end));
    }
    const line = textOf(parts);
    if (line !== '') yield { line, at: 0 };
  } finally {
    await file.close();
  }
}

function lineFeedBefore(buffer: Buffer, end: number): number {
  return end === 0 ? -1 : buffer.lastIndexOf(LINE_FEED, end - 1);
}

function textOf(parts: readonly Buffer[]): string {
  return Buffer.concat(parts.toReversed()).toString('utf8');
}
