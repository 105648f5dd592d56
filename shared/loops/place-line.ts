import type { Clock } from '../runtime/clock.ts';

/** The requests that wait for a place at one host. */
interface Line {
  readonly waiting: AbortController[];
  /** Ends the sleep of the request whose turn it is, when another request of this process leaves the host. */
  nap?: AbortController | undefined;
}

/**
 * Queues the requests of one process that wait for a place at a host. Only the first in line asks the gate: immediately after a
 * request of this process leaves the host, and at intervals, since requests of other processes leave unnoticed. If each request
 * asked the gate itself, a fast host would cost ten calls a page.
 */
export class PlaceLine {
  readonly #clock: Pick<Clock, 'sleep'>;
  readonly #lines = new Map<string, Line>();
  readonly #onLine: (by: 1 | -1) => void;

  /** @param onLine called with 1 when a request begins to wait, with -1 when it ends */
  constructor(clock: Pick<Clock, 'sleep'>, onLine: (by: 1 | -1) => void = () => {}) {
    this.#clock = clock;
    this.#onLine = onLine;
  }

  /** Is any request waiting at this host? */
  has(host: string): boolean {
    return this.#lines.has(host);
  }

  /**
   * Runs `ask` once all earlier requests have had their turn; later ones wait until it is over. Returns nothing if the turn
   * doesn't come within `ms`, or before `signal` is aborted.
   */
  async inTurn<T>(
    host: string,
    ms: number,
    signal: AbortSignal,
    ask: (hasWaited: boolean) => Promise<T>,
  ): Promise<T | undefined> {
    const line = this.#lines.get(host) ?? { waiting: [] };
    this.#lines.set(host, line);
    const { waiting } = line;
    const mine = new AbortController();
    waiting.push(mine);
    this.#onLine(1);
    try {
      const hasWaited = waiting[0] !== mine;
      if (hasWaited) await this.#clock.sleep(ms, AbortSignal.any([signal, mine.signal]));
      return waiting[0] === mine ? await ask(hasWaited) : undefined;
    } finally {
      this.#onLine(-1);
      const wasFirst = waiting[0] === mine;
      waiting.splice(waiting.indexOf(mine), 1);
      if (wasFirst) waiting[0]?.abort();
      if (waiting.length === 0) this.#lines.delete(host);
    }
  }

  /** Sleeps until a request of this process leaves the host, at most `ms`. For the request whose turn it is. */
  async untilLeft(host: string, ms: number, signal: AbortSignal): Promise<void> {
    const line = this.#lines.get(host);
    const nap = new AbortController();
    if (line !== undefined) line.nap = nap;
    await this.#clock.sleep(ms, AbortSignal.any([signal, nap.signal]));
    if (line !== undefined) line.nap = undefined;
  }

  /** To be called when a request of this process leaves its place at the host. */
  left(host: string): void {
    this.#lines.get(host)?.nap?.abort();
  }
}
