import type { RequestClock } from './request-clock.ts';

/** Connections that are being made at once: a burst of handshakes would make all of them late. */
const AT_ONCE = 64;
/**
 * A connection that takes longer no longer counts: most likely its host is gone, and 64 such hosts would hold up all others for
 * the whole of a phase's time-out. TCP takes less to anywhere on earth.
 */
const COUNTS_FOR_MS = 500;

/** A connection's turn to be made. */
export interface Turn {
  /** It is made, has failed, or nobody waits for it any more. Safe to call twice. */
  end(): void;
}

interface ConnectTurnsOptions {
  readonly atOnce?: number;
  /** How long a connection in the making counts. */
  readonly countsForMs?: number;
}

/**
 * Lets one process make at most {@link AT_ONCE} connections at a time: TCP, TLS and a proxy's tunnel. Further ones wait in order,
 * and the clocks of their requests stand still meanwhile.
 */
export class ConnectTurns {
  readonly #atOnce: number;
  readonly #countsForMs: number;
  /** Those that wait, and those that are being made and count; the oldest first. */
  readonly #line = new Set<Place>();
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

  /** Calls `begin` when it is a connection's turn: at once, if it can be. `clock` is that of its request. */
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

  /** While somebody waits, a timer ends when the oldest connection in the making no longer counts. */
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
