/** A double-ended queue on a growing ring buffer: cheap at both ends at any length. */
export class Deque<T> {
  #ring: (T | undefined)[] = new Array(16);
  #head = 0;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  push(value: T): void {
    this.#grow();
    this.#ring[(this.#head + this.#length) % this.#ring.length] = value;
    this.#length++;
  }

  unshift(value: T): void {
    this.#grow();
    this.#head = (this.#head - 1 + this.#ring.length) % this.#ring.length;
    this.#ring[this.#head] = value;
    this.#length++;
  }

  /** Takes up to `count` values from the head. */
  take(count: number): T[] {
    const taken: T[] = [];
    while (taken.length < count && this.#length > 0) {
      taken.push(this.#ring[this.#head] as T);
      this.#ring[this.#head] = undefined;
      this.#head = (this.#head + 1) % this.#ring.length;
      this.#length--;
    }
    return taken;
  }

  /** Yields the values from head to tail. */
  *values(): Generator<T> {
    for (let i = 0; i < this.#length; i++) yield this.#ring[(this.#head + i) % this.#ring.length] as T;
  }

  #grow(): void {
    if (this.#length < this.#ring.length) return;
    const ring: (T | undefined)[] = new Array(this.#ring.length * 2);
    for (let i = 0; i < this.#length; i++) ring[i] = this.#ring[(this.#head + i) % this.#ring.length];
    this.#ring = ring;
    this.#head = 0;
  }
}
