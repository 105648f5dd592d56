import type { RequestClock } from './request-clock.ts';

/** Connections being made at once, at most: in a larger burst of handshakes, all of them would be late. */
const AT_ONCE = 64;
/**
 * A connection that takes longer no longer counts. Its host is probably down, and 64 such hosts would hold up all others until
 * their phase times out. A TCP connection to anywhere on earth takes less.
 */
const COUNTS_FOR_MS = 500;

/** A connection's turn. */
export interface Turn {
  /** The connection is made, has failed, or is no longer wanted. Safe to call twice. */
  end(): void;
}

interface ConnectTurnsOptions {
  readonly atOnce?: number;
  /** How long a connection that is being made counts. */
  readonly countsForMs?: number;
}

/**
 * Limits how many connections one process makes at once, default {@link AT_ONCE}: TCP, TLS and a proxy's tunnel. Others wait in
 * order, and the clocks of their requests are paused meanwhile.
 */
export class ConnectTurns {
  readonly #atOnce: number;
  readonly #countsForMs: number;
  /** Connections that wait for their turn, in order. */
  readonly #line = new Set<Place>();
  /** Connections being made that still count, the oldest first. */
  readonly #counted = new Set<Place>();
  #timer: NodeJS.Timeout | undefined;

  constructor({ atOnce = AT_ONCE, countsForMs = COUNTS_FOR_MS }: ConnectTurnsOptions = {}) {
    this.#atOnce = atOnce;
    this.#countsForMs = countsForMs;
  }

  /** Connections that wait for their turn. */
  get waiting(): number {
    return this.#line.size;
  }

  /** Calls `begin` when it is the connection's turn, at once if possible. `clock` is its request's. */
  take(clock: RequestClock, begin: () => void): Turn {
    const place = new Place(clock, begin, (ended) => this.#end(ended));
    if (this.#line.size === 0 && this.#hasRoom()) this.#begin(place);
    else {
      clock.pause();
      this.#line.add(place);
      this.#watch();
    }
    return place;
  }

  #begin(place: Place): void {
    place.begunAt = performance.now();
    this.#counted.add(place);
    place.begin();
  }

  #end(place: Place): void {
    if (this.#line.delete(place)) {
      place.clock.resume();
      this.#watch();
    } else if (this.#counted.delete(place)) this.#admit();
  }

  #hasRoom(): boolean {
    if (this.#counted.size < this.#atOnce) return true;
    const counts = performance.now() - this.#countsForMs;
    for (const place of this.#counted) {
      if (place.begunAt > counts) break;
      this.#counted.delete(place);
    }
    return this.#counted.size < this.#atOnce;
  }

  #admit(): void {
    for (const place of this.#line) {
      if (!this.#hasRoom()) break;
      this.#line.delete(place);
      place.clock.resume();
      this.#begin(place);
    }
    this.#watch();
  }

  /** While a connection waits, a timer fires when the oldest of those being made no longer counts. */
  #watch(): void {
    clearTimeout(this.#timer);
    const [oldest] = this.#line.size === 0 ? [] : this.#counted;
    if (oldest === undefined) return;
    const restMs = oldest.begunAt + this.#countsForMs - performance.now();
    this.#timer = setTimeout(() => this.#admit(), Math.max(0, Math.ceil(restMs)));
  }
}

class Place implements Turn {
  readonly clock: RequestClock;
  readonly begin: () => void;
  readonly #end: (place: Place) => void;
  begunAt = 0;

  constructor(clock: RequestClock, begin: () => void, end: (place: Place) => void) {
    this.clock = clock;
    this.begin = begin;
    this.#end = end;
  }

  end(): void {
    this.#end(this);
  }
}
