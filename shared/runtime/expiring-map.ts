import type { Clock } from './clock.ts';

interface ExpiringMapOptions {
  readonly clock: Pick<Clock, 'now'>;
  readonly maxEntries: number;
  /** Of all values together, as `set` was told of them. */
  readonly maxBytes: number;
}

interface Entry<V> {
  readonly value: V;
  readonly bytes: number;
  readonly expiresAt: number;
}

/** Values that are kept for a while, by number and by bytes: what was not asked for longest goes first. */
export class ExpiringMap<V> {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #maxEntries: number;
  readonly #maxBytes: number;
  /** In the order of their last use. */
  readonly #entries = new Map<string, Entry<V>>();
  #bytes = 0;

  constructor({ clock, maxEntries, maxBytes }: ExpiringMapOptions) {
    this.#clock = clock;
    this.#maxEntries = maxEntries;
    this.#maxBytes = maxBytes;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: string): V | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#entries.delete(key);
    if (entry.expiresAt <= this.#clock.now()) {
      this.#bytes -= entry.bytes;
      return undefined;
    }
    this.#entries.set(key, entry);
    return entry.value;
  }

  /** Keeps a value in place of the one before. One that is larger than all may be together is not kept. */
  set(key: string, value: V, { ttlMs, bytes }: { readonly ttlMs: number; readonly bytes: number }): void {
    this.delete(key);
    if (bytes > this.#maxBytes) return;
    this.#entries.set(key, { value, bytes, expiresAt: this.#clock.now() + ttlMs });
    this.#bytes += bytes;
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= this.#maxEntries && this.#bytes <= this.#maxBytes) break;
      this.delete(oldest);
    }
  }

  delete(key: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key);
    this.#bytes -= entry.bytes;
  }
}
