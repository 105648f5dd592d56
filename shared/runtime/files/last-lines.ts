import { open } from 'node:fs/promises';

const BLOCK_BYTES = 64 * 1024;
const LINE_FEED = 10;

/**
 * The lines of a file from its end to its beginning, without their line feeds; empty ones are left out. It reads no more of the file than
 * is asked for, and holds one line and one block of it. Rejects with the file system's error.
 *
 * @param blockBytes how much is read at once
 */
export async function* lastLinesOf(path: string, blockBytes = BLOCK_BYTES): AsyncGenerator<string, void, void> {
  const file = await open(path);
  try {
    let { size: start } = await file.stat();
    /** Parts of the line whose beginning isn't read yet, the last one first. */
    let parts: Buffer[] = [];
    while (start > 0) {
      const length = Math.min(blockBytes, start);
      start -= length;
      const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, start);
      let end = bytesRead;
      for (let at = lineFeedBefore(buffer, end); at >= 0; at = lineFeedBefore(buffer, end)) {
        const line = textOf([...parts, buffer.subarray(at + 1, end)]);
        if (line !== '') yield line;
        parts = [];
        end = at;
      }
      parts.push(buffer.subarray(0, end));
    }
    const first = textOf(parts);
    if (first !== '') yield first;
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
