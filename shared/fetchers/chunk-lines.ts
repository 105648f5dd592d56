const CR = 0x0d;
const LF = 0x0a;

/** The part of a chunked body to which the next byte belongs. */
type Place = 'size' | 'extension' | 'line feed' | 'data' | 'after data' | 'unchanged';

/**
 * The lines with the sizes of a body's chunks (RFC 9112 section 7.1), written as the parser of Node.js and undici understands them:
 *
 * | line                              | what the parser would do                                                 |
 * |-----------------------------------|--------------------------------------------------------------------------|
 * | ends with only a line feed        | take a line feed that begins the chunk for the end of the line: the      |
 * |                                   | chunk loses a byte; after the last chunk, it waits for another line      |
 * | `5; name="value"`, with a blank   | refuse it, although RFC 9112 section 7.1.1 allows blanks there           |
 *
 * Browsers and curl accept both, and ignore extensions. A server writes all its lines in the same way, so if the first needs no repair, the
 * body is passed on unchanged, and this costs nothing.
 */
export class ChunkLines {
  #place: Place = 'size';
  #isFirstLine = true;
  #digits = 0;
  #size = 0;
  /** Bytes of the chunk that are still to come. */
  #left = 0;

  /** Whether the rest of the body is passed on unchanged. */
  get isDone(): boolean {
    return this.#place === 'unchanged';
  }

  /** Returns the next bytes of the body, with lines that the parser understands. */
  repaired(bytes: Buffer): Buffer {
    let at = 0;
    while (this.#isFirstLine && !this.isDone && at < bytes.length && this.#isSound(bytes[at])) at++;
    if (this.isDone || at === bytes.length) return bytes;
    this.#isFirstLine = false;
    // Each byte becomes two at most, and a carriage return can have been held back.
    const written = Buffer.allocUnsafe(2 * bytes.length + 2);
    let length = bytes.copy(written, 0, 0, at);
    while (at < bytes.length) {
      const data = this.#dataAt(at, bytes.length);
      length += bytes.copy(written, length, at, at + data);
      at += data;
      if (at < bytes.length) length = this.#write(bytes[at++] ?? 0, written, length);
    }
    return written.subarray(0, length);
  }

  /** Returns `true` if this byte of the first line needs no repair. */
  #isSound(byte = 0): boolean {
    if (byte === CR) this.#place = 'unchanged';
    else if (Number.isNaN(digitOf(byte))) return false;
    else this.#addDigit(byte);
    return true;
  }

  /** Returns the length of the chunk's data at this position, or of all that follows if that is passed on unchanged. */
  #dataAt(at: number, end: number): number {
    if (this.#place === 'unchanged') return end - at;
    if (this.#place !== 'data') return 0;
    const length = Math.min(this.#left, end - at);
    this.#left -= length;
    if (this.#left === 0) this.#place = 'after data';
    return length;
  }

  /** Writes what becomes of a byte that isn't data. Returns the length of all that was written. */
  #write(byte: number, written: Buffer, length: number): number {
    if (this.#place === 'after data') {
      if (byte === CR || byte === LF) return this.#endData(byte, written, length);
      this.#beginLine();
    }
    if (byte === LF) return this.#endLine(written, length);
    if (this.#place === 'line feed') {
      // A carriage return alone: left to the parser.
      this.#place = 'unchanged';
      written[length] = CR;
      written[length + 1] = byte;
      return length + 2;
    }
    if (this.#place === 'extension') return length;
    if (byte === CR) this.#place = 'line feed';
    else if (Number.isNaN(digitOf(byte))) this.#place = this.#digits === 0 ? 'unchanged' : 'extension';
    else this.#addDigit(byte);
    if (this.#place !== 'size' && this.#place !== 'unchanged') return length;
    written[length] = byte;
    return length + 1;
  }

  #endData(byte: number, written: Buffer, length: number): number {
    if (byte === LF) this.#beginLine();
    written[length] = byte;
    return length + 1;
  }

  #endLine(written: Buffer, length: number): number {
    this.#left = this.#size;
    // Behind the last chunk, the parser understands any line.
    this.#place = this.#size === 0 ? 'unchanged' : 'data';
    written[length] = CR;
    written[length + 1] = LF;
    return length + 2;
  }

  #beginLine(): void {
    this.#place = 'size';
    this.#digits = 0;
    this.#size = 0;
  }

  /** A size beyond what a number holds is left to the parser, which refuses it. */
  #addDigit(byte: number): void {
    this.#digits += 1;
    this.#size = this.#size * 16 + digitOf(byte);
    if (this.#size > Number.MAX_SAFE_INTEGER) this.#place = 'unchanged';
  }
}

/** Returns a byte's value as a hexadecimal digit; NaN if it is none. */
function digitOf(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : Number.NaN;
}
