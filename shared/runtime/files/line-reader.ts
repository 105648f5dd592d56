import { open } from 'node:fs/promises';

/** Maximum bytes of a line that is read whole: longer than any line this program writes. */
const MAX_LINE_BYTES = 64 * 2 ** 20;
/** Sizes of a block. Each read allocates a new one, so a run's thousands of small files get small blocks. */
const [LEAST_BLOCK_BYTES, BLOCK_BYTES] = [4 * 1024, 256 * 1024];
/** Bytes kept of a line that is too long. */
const BEGINNING_BYTES = 1_024;

const LINE_FEED = 10;

/** One line of a file. */
export interface FileLine {
  /** Line number, from 1. */
  readonly number: number;
  /** The line without its line feed; only its beginning if it is cut. */
  readonly text: string;
  /** The line is longer than {@link MAX_LINE_BYTES}. */
  readonly isCut: boolean;
  /** A line feed ends the line. Without one, it is the last line, perhaps torn by a crash or still being written. */
  readonly isWhole: boolean;
}

/**
 * Yields the lines of a file, in order. Only a line feed ends a line, since JSON can contain U+2028, U+0085 and Unicode's other
 * line ends unescaped. Holds one line and one block of the file at a time. Rejects with the file system's error.
 */
export async function* linesOf(path: string): AsyncGenerator<FileLine, void, void> {
  let number = 0;
  let unended = new UnendedLine();
  const file = await open(path);
  const { size } = await file.stat();
  const highWaterMark = Math.max(LEAST_BLOCK_BYTES, Math.min(size, BLOCK_BYTES));
  for await (const block of file.createReadStream({ highWaterMark }) as AsyncIterable<Buffer>) {
    const first = block.indexOf(LINE_FEED);
    if (first >= 0) {
      unended.add(block.subarray(0, first));
      yield { ...unended.text(), number: ++number, isWhole: true };
      unended = new UnendedLine();
      const last = block.lastIndexOf(LINE_FEED);
      const others = last > first ? block.toString('utf8', first + 1, last).split('\n') : [];
      for (const text of others) yield { text, isCut: false, number: ++number, isWhole: true };
      unended.add(block.subarray(last + 1));
    } else {
      unended.add(block);
    }
  }
  if (!unended.isEmpty) yield { ...unended.text(), number: ++number, isWhole: false };
}

/** The part read so far of a line that ends in a later block. */
class UnendedLine {
  #parts: Buffer[] = [];
  #bytes = 0;
  #isCut = false;

  get isEmpty(): boolean {
    return this.#bytes === 0;
  }

  add(part: Buffer): void {
    if (part.length === 0 || this.#isCut) return;
    this.#parts.push(part);
    this.#bytes += part.length;
    if (this.#bytes <= MAX_LINE_BYTES) return;
    this.#isCut = true;
    // Copied, since a slice would keep its whole block in memory.
    this.#parts = [Buffer.from((this.#parts[0] ?? part).subarray(0, BEGINNING_BYTES))];
  }

  text(): Pick<FileLine, 'text' | 'isCut'> {
    return { text: Buffer.concat(this.#parts).toString(), isCut: this.#isCut };
  }
}
