/** Number of chunks that are packed together. A loose chunk takes some 150 bytes besides its own, and holds the block it was read into. */
const LOOSE_CHUNKS = 1_024;
/** Average length above which chunks are not worth copying. */
const SMALL_BYTES = 1_024;

/**
 * The chunks of a body that is read whole. The server chooses how small they are: a body of 10 MB in chunks of one byte would take 1.5 GB.
 * Small ones are therefore copied together, each byte once.
 */
export class GatheredBytes {
  #chunks: Uint8Array[] = [];
  #loose: Uint8Array[] = [];
  #looseBytes = 0;
  #bytes = 0;

  get length(): number {
    return this.#bytes;
  }

  add(chunk: Uint8Array): void {
    this.#bytes += chunk.length;
    this.#looseBytes += chunk.length;
    if (this.#loose.push(chunk) < LOOSE_CHUNKS) return;
    if (this.#looseBytes < LOOSE_CHUNKS * SMALL_BYTES) this.#chunks.push(Buffer.concat(this.#loose, this.#looseBytes));
    else this.#chunks.push(...this.#loose);
    this.#loose = [];
    this.#looseBytes = 0;
  }

  /** Returns all chunks as one. */
  whole(): Uint8Array {
    const [first] = this.#loose;
    if (this.#chunks.length === 0 && this.#loose.length === 1 && first !== undefined) return first;
    return Buffer.concat([...this.#chunks, ...this.#loose], this.#bytes);
  }
}
