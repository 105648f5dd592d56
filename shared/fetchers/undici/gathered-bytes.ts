/** Chunks that are packed at a time. Each loose one takes some 150 bytes beside its own, and holds the block that it was read into. */
const LOOSE_CHUNKS = 1_024;
/** Chunks that are longer than this on average are not worth copying. */
const SMALL_BYTES = 1_024;

/**
 * The chunks of a body that is read whole. A server chooses how small they are: of a body of 10 MB in chunks of one byte, they would
 * take 1.5 GB. So small ones are copied together, each byte once.
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

  /** All of them in one. */
  whole(): Uint8Array {
    const [first] = this.#loose;
    if (this.#chunks.length === 0 && this.#loose.length === 1 && first !== undefined) return first;
    return Buffer.concat([...this.#chunks, ...this.#loose], this.#bytes);
  }
}
