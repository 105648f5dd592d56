import type { Clock } from '../runtime/clock.ts';

/**
 * Requests of one process that wait for a place at a host, in the order in which they came: the first one asks the gate again
 * and again, the others wait behind it. If each asked for itself, a fast host would cost ten questions a page.
 */
export class PlaceLine {
  readonly #clock: Pick<Clock, 'sleep'>;
  readonly #waiting = new Map<string, AbortController[]>();

  constructor(clock: Pick<Clock, 'sleep'>) {
    this.#clock = clock;
  }

  /** Does a request wait at this host? */
  has(host: string): boolean {
    return this.#waiting.has(host);
  }

  /**
   * Runs `ask` once all earlier requests have had their turn; later ones wait until it is over. Undefined if the turn doesn't
   * come within `ms`, or before `signal` is aborted.
   */
  async inTurn<T>(
    host: string,
    ms: number,
    signal: AbortSignal,
    ask: (hasWaited: boolean) => Promise<T>,
  ): Promise<T | undefined> {
    const waiting = this.#waiting.get(host) ?? [];
    this.#waiting.set(host, waiting);
    const mine = new AbortController();
    waiting.push(mine);
    try {
      const hasWaited = waiting[0] !== mine;
      if (hasWaited) await this.#clock.sleep(ms, AbortSignal.any([signal, mine.signal]));
      return waiting[0] === mine ? await ask(hasWaited) : undefined;
    } finally {
      const wasFirst = waiting[0] === mine;
      waiting.splice(waiting.indexOf(mine), 1);
      if (wasFirst) waiting[0]?.abort();
      if (waiting.length === 0) this.#waiting.delete(host);
    }
  }
}
