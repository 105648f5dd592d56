import { open } from 'node:fs/promises';

const BLOCK_BYTES = 64 * 1024;
const LINE_FEED = 10;

/** A line without its line feed, and the byte of its file at which it begins. */
export interface LastLine {
  readonly line: string;
  readonly at: number;
}

interface LastLinesOptions {
  /** The byte at which the lines that are meant end: where a line begins. Left out, or beyond the file: at its end. */
  readonly before?: number | undefined;
  /** How much is read at once. */
  readonly blockBytes?: number;
}

/**
 * The lines of a file from its end to its beginning; empty ones are left out. It reads no more of the file than is asked for, and holds
 * one line and one block of it. Rejects with the file system's error.
 */
export async function* lastLinesOf(
  path: string,
  { before = Number.POSITIVE_INFINITY, blockBytes = BLOCK_BYTES }: LastLinesOptions = {},
): AsyncGenerator<LastLine, void, void> {
  const file = await open(path);
  try {
    let start = Math.min(before, (await file.stat()).size);
    /** Parts of the line whose beginning isn't read yet, the last one first. */
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
