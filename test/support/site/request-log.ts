import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';

/** A request that came in. */
export interface LoggedRequest {
  /** Milliseconds since the epoch, to the microsecond. */
  readonly at: number;
  readonly method: string;
  /** With the query. */
  readonly path: string;
  /** The Host header. */
  readonly host: string;
  readonly headers: IncomingHttpHeaders;
}

interface Waiter {
  /** `undefined` for requests of any path. */
  readonly path: string | undefined;
  readonly times: number;
  readonly resolve: () => void;
}

/** The requests that came in, in order. */
export class RequestLog {
  readonly entries: LoggedRequest[] = [];
  readonly #counts = new Map<string, number>();
  #waiters: Waiter[] = [];

  add({ method = '', url = '', headers }: IncomingMessage): void {
    const at = performance.timeOrigin + performance.now();
    this.entries.push({ at, method, path: url, host: headers.host ?? '', headers });
    this.#counts.set(url, this.count(url) + 1);
    this.#waiters = this.#waiters.filter((waiter) => !this.#serve(waiter));
  }

  count(path: string): number {
    return this.#counts.get(path) ?? 0;
  }

  /** Resolves once the path has been requested `times` times. */
  arrival(path: string, times: number): Promise<void> {
    return new Promise((resolve) => {
      const waiter = { path, times, resolve };
      if (!this.#serve(waiter)) this.#waiters.push(waiter);
    });
  }

  /** Resolves once `times` requests have arrived in all. */
  arrivals(times: number): Promise<void> {
    return new Promise((resolve) => {
      const waiter = { path: undefined, times, resolve };
      if (!this.#serve(waiter)) this.#waiters.push(waiter);
    });
  }

  clear(): void {
    this.entries.length = 0;
    this.#counts.clear();
  }

  #serve({ path, times, resolve }: Waiter): boolean {
    if ((path === undefined ? this.entries.length : this.count(path)) < times) return false;
    resolve();
    return true;
  }
}
