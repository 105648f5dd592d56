/** Time between two beats of the event loop, and between two ticks of the watchdog. */
export const TICK_MS = 250;

/** Bytes kept of a URL and its step. */
const MAX_PAGE_BYTES = 4_096;

const [BEATS, TICKS, DEBUGGED, PAGE_BYTES] = [0, 1, 2, 3] as const;
const NUMBERS_BYTES = 16;

/** Memory that the event loop shares with its watchdog: a few numbers, and the page in hand. */
export class WatchedMemory {
  readonly shared: SharedArrayBuffer;
  readonly #numbers: Int32Array;
  readonly #page: Uint8Array;
  readonly #encoder = new TextEncoder();

  constructor(shared = new SharedArrayBuffer(NUMBERS_BYTES + MAX_PAGE_BYTES)) {
    this.shared = shared;
    this.#numbers = new Int32Array(shared, 0, NUMBERS_BYTES / 4);
    this.#page = new Uint8Array(shared, NUMBERS_BYTES);
  }

  /** Notes that the event loop is running. With a debugger attached, it may pause for any length of time. */
  beat(isDebugged: boolean): void {
    Atomics.store(this.#numbers, DEBUGGED, isDebugged ? 1 : 0);
    Atomics.add(this.#numbers, BEATS, 1);
  }

  get beats(): number {
    return Atomics.load(this.#numbers, BEATS);
  }

  get isDebugged(): boolean {
    return Atomics.load(this.#numbers, DEBUGGED) === 1;
  }

  tick(): void {
    Atomics.add(this.#numbers, TICKS, 1);
  }

  /** Time as counted by the watchdog, which stops while the process is suspended. */
  get ticks(): number {
    return Atomics.load(this.#numbers, TICKS);
  }

  /** The URL of the page that occupies the event loop, then a space and its step if that has a name; `''` for none. */
  get page(): string {
    // A copy, since TextDecoder doesn't accept shared memory.
    return new TextDecoder().decode(this.#page.slice(0, Atomics.load(this.#numbers, PAGE_BYTES)));
  }

  set page(page: string) {
    const { written } = page === '' ? { written: 0 } : this.#encoder.encodeInto(page, this.#page);
    Atomics.store(this.#numbers, PAGE_BYTES, written);
  }
}
