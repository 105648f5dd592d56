import { BoundedMap } from '../runtime/collections/bounded-map.ts';
import { memoryLimit, openFileLimit } from '../runtime/limits.ts';

/** Maximum idle connections: enough for 2,000 hosts that get a request every second, with two connections each. */
const MOST = 4_096;
/** Share of this process's open-file limit that idle connections may use. */
const PART_OF_FILES = 1 / 4;
/** Share of its memory. In a container of 200 MiB, the connections of 2,000 hosts would take more than is left. */
const PART_OF_MEMORY = 1 / 6;
/** Memory that one connection takes: in the heap, outside it, and in the kernel, whose buffers count in a container. */
const BYTES_EACH = 64 * 1024;

interface Closable {
  destroy(): void;
}

interface Waiting {
  /** Closes the connection, if it doesn't time out by itself. */
  readonly timer: NodeJS.Timeout | undefined;
}

/**
 * The connections of one fetcher that wait for their next request, whatever their host and route. A broad crawl meets new hosts faster than
 * their connections expire, so above the limit the connection that has waited longest is closed.
 */
export class IdleConnections {
  readonly #waiting: BoundedMap<Closable, Waiting>;

  constructor(most = mostIdle()) {
    this.#waiting = new BoundedMap(most, (connection, { timer }) => {
      clearTimeout(timer);
      connection.destroy();
    });
  }

  /**
   * Adds a connection that has no request any more.
   *
   * @param ms time until it is closed unused; if left out, the connection times out by itself
   */
  keep(connection: Closable, ms?: number): void {
    this.take(connection);
    const timer = ms === undefined ? undefined : setTimeout(() => this.#close(connection), ms).unref();
    this.#waiting.set(connection, { timer });
  }

  /** Removes a connection that has a request again, or is closed. */
  take(connection: Closable): void {
    clearTimeout(this.#waiting.peek(connection)?.timer);
    this.#waiting.delete(connection);
  }

  #close(connection: Closable): void {
    this.take(connection);
    connection.destroy();
  }
}

/** Returns the number of idle connections for a process with these limits: one at least. */
export function mostIdle(files = openFileLimit(), memory = memoryLimit()): number {
  const most = Math.min(MOST, Math.floor(files * PART_OF_FILES), Math.floor((memory * PART_OF_MEMORY) / BYTES_EACH));
  return Math.max(1, most);
}
