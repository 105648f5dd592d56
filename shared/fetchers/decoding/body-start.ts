/** Passes a body on and keeps a copy of it, unless it is longer than `most` bytes. */
export class BodyStart {
  readonly #most: number;
  #chunks: Uint8Array[] = [];
  #size = 0;

  constructor(most: number) {
    this.#most = most;
  }

  async *of(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of body) {
      this.#size += chunk.length;
      if (this.#size > this.#most) this.#chunks = [];
      else this.#chunks.push(chunk);
      yield chunk;
    }
  }

  /** Everything received so far, or no bytes if it exceeded the limit. */
  get bytes(): Uint8Array {
    return Buffer.concat(this.#chunks);
  }
}
