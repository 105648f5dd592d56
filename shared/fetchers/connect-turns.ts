import type { RequestClock } from './request-clock.ts';

/** Maximum connections being made at once: in a larger burst of handshakes, all of them would be late. */
const AT_ONCE = 64;
/**
 * Maximum wait for a turn; after that, a connection begins anyway. Its host has been granted this moment, and the next request to that host
 * follows after an interval however late this one is. The limit also keeps 64 hanging hosts from holding up the others for longer.
 */
const MOST_WAIT_MS = 50;

/** A connection's turn. */
export interface Turn {
  /** Ends the turn: the connection is made, has failed, or is no longer wanted. Safe to call twice. */
  end(): void;
}

interface ConnectTurnsOptions {
  readonly atOnce?: number;
  /** Maximum wait of a connection. */
  readonly mostWaitMs?: number;
}

/**
 * Spreads bursts of connections. While {@link AT_ONCE} are being made in one process (TCP, TLS, a proxy's tunnel), others wait in order,
 * for at most {@link MOST_WAIT_MS}. The clocks of their requests are paused meanwhile.
 */
export class ConnectTurns {
  readonly #atOnce: number;
  readonly #mostWaitMs: number;
  /** Connections that wait for their turn, in order. */
  readonly #line = new Set<Place>();
  /** Connections being made. */
  readonly #begun = new Set<Place>();
  #timer: NodeJS.Timeout | undefined;

  constructor({ atOnce = AT_ONCE, mostWaitMs = MOST_WAIT_MS }: ConnectTurnsOptions = {}) {
    this.#atOnce = atOnce;
    this.#mostWaitMs = mostWaitMs;
  }

  /** Connections that wait for their turn. */
  get waiting(): number {
    return this.#line.size;
  }

  /** Calls `begin` when it is the connection's turn, immediately if possible. `clock` is the request's. */
  take(clock: RequestClock, begin: () => void): Turn {
    const place = new Place(clock, begin, (ended) => this.#end(ended));
    if (this.#line.size === 0 && this.#hasRoom()) this.#begin(place);
    else {
      clock.pause();
      place.waitsSince = performance.now();
      this.#line.add(place);
      this.#watch();
    }
    return place;
  }

  #begin(place: Place): void {
    this.#begun.add(place);
    place.begin();
  }

  #end(place: Place): void {
    if (this.#line.delete(place)) {
      place.clock.resume();
      this.#watch();
    } else if (this.#begun.delete(place)) this.#admit();
  }

  #hasRoom(): boolean {
    return this.#begun.size < this.#atOnce;
  }

  #admit(): void {
    const now = performance.now();
    for (const place of this.#line) {
      if (!this.#hasRoom() && now - place.waitsSince < this.#mostWaitMs) break;
      this.#line.delete(place);
      place.clock.resume();
      this.#begin(place);
    }
    this.#watch();
  }

  /** Sets a timer for the moment when the first waiting connection has waited long enough. */
  #watch(): void {
    clearTimeout(this.#timer);
    const [first] = this.#line;
    if (first === undefined) return;
    const restMs = first.waitsSince + this.#mostWaitMs - performance.now();
    this.#timer = setTimeout(() => this.#admit(), Math.max(0, Math.ceil(restMs)));
  }
}

class Place implements Turn {
  readonly clock: RequestClock;
  readonly begin: () => void;
  readonly #end: (place: Place) => void;
  waitsSince = 0;

  constructor(clock: RequestClock, begin: () => void, end: (place: Place) => void) {
    this.clock = clock;
    this.begin = begin;
    this.#end = end;
  }

  end(): void {
    this.#end(this);
  }
}
