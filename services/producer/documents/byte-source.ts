/** A stream of bytes that can be peeked at, and read in any amounts. Leaving a loop over it ends it. */
export class ByteSource {
  readonly #iterator: AsyncIterator<Uint8Array>;
  /** Bytes read from the stream that the caller has not taken yet. */
  #ahead: Uint8Array = new Uint8Array();
  #taken = 0;
  #isDone = false;

  constructor(stream: AsyncIterable<Uint8Array>) {
    this.#iterator = stream[Symbol.asyncIterator]();
  }

  /** Number of bytes taken so far and not put back. */
  get taken(): number {
    return this.#taken;
  }

  /** Returns the next bytes without taking them; reads until `isEnough` or the end. */
  async peek(isEnough: (bytes: Uint8Array) => boolean): Promise<Uint8Array> {
    while (!isEnough(this.#ahead) && (await this.#pull()));
    return this.#ahead;
  }

  /** Takes exactly this many bytes; nothing if fewer are left. */
  async take(count: number): Promise<Uint8Array | undefined> {
    const { length } = await this.peek((bytes) => bytes.length >= count);
    return length < count ? undefined : this.#cut(count);
  }

  /** Takes the next bytes, at most this many; nothing at the end. */
  async next(most = Number.POSITIVE_INFINITY): Promise<Uint8Array | undefined> {
    const { length } = await this.peek((bytes) => bytes.length > 0);
    return length === 0 ? undefined : this.#cut(most);
  }

  /** Puts back the bytes that were taken last. */
  unread(bytes: Uint8Array): void {
    this.#taken -= bytes.length;
    this.#ahead = this.#ahead.length === 0 ? bytes : Buffer.concat([bytes, this.#ahead]);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, void> {
    try {
      for (let bytes = await this.next(); bytes !== undefined; bytes = await this.next()) yield bytes;
    } finally {
      await this.end();
    }
  }

  /** Stops reading. */
  async end(): Promise<void> {
    if (!this.#isDone) await this.#iterator.return?.();
    this.#isDone = true;
  }

  #cut(count: number): Uint8Array {
    const bytes = this.#ahead.subarray(0, count);
    this.#ahead = this.#ahead.subarray(bytes.length);
    this.#taken += bytes.length;
    return bytes;
  }

  async #pull(): Promise<boolean> {
    if (this.#isDone) return false;
    const { done, value } = await this.#iterator.next();
    if (done === true) {
      this.#isDone = true;
      return false;
    }
    this.#ahead = this.#ahead.length === 0 ? value : Buffer.concat([this.#ahead, value]);
    return true;
  }
}
