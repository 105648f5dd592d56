/** Time between two beats of the event loop, and between two ticks of the watchdog. */
export const TICK_MS = 250;

/** Bytes kept of a URL. */
const MAX_URL_BYTES = 4_096;

const [BEATS, TICKS, DEBUGGED, URL_BYTES] = [0, 1, 2, 3] as const;
const NUMBERS_BYTES = 16;

/** Memory shared by the event loop and its watchdog: a few numbers, and the URL in hand. */
export class WatchedMemory {
  readonly shared: SharedArrayBuffer;
  readonly #numbers: Int32Array;
  readonly #url: Uint8Array;
  readonly #encoder = new TextEncoder();

  constructor(shared = new SharedArrayBuffer(NUMBERS_BYTES + MAX_URL_BYTES)) {
    this.shared = shared;
    this.#numbers = new Int32Array(shared, 0, NUMBERS_BYTES / 4);
    this.#url = new Uint8Array(shared, NUMBERS_BYTES);
  }

  /** Notes that the event loop turns. With a debugger attached it may stand still for any time. */
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

  /** Time as the watchdog counts it, which stops while the process is suspended. */
  get ticks(): number {
    return Atomics.load(this.#numbers, TICKS);
  }

  /** The page that has the event loop to itself; `''` for none. */
  get url(): string {
    // TextDecoder doesn't accept shared memory, hence the copy.
    return new TextDecoder().decode(this.#url.slice(0, Atomics.load(this.#numbers, URL_BYTES)));
  }

  set url(url: string) {
    const { written } = url === '' ? { written: 0 } : this.#encoder.encodeInto(url, this.#url);
    Atomics.store(this.#numbers, URL_BYTES, written);
  }
}
