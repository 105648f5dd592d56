import { memoryLimit, openFileLimit } from '../runtime/limits.ts';

/** Kept at most: enough for 2,000 hosts that are asked every second, of which each may have two. */
const MOST = 4_096;
/** The part of this process' open files that they may take. */
const PART_OF_FILES = 1 / 4;
/** The part of its memory. In a container of 200 MiB, those of 2,000 hosts would take more than is left. */
const PART_OF_MEMORY = 1 / 6;
/** What one takes: in the heap, beside it, and in the kernel, whose buffers count in a container. */
const BYTES_EACH = 64 * 1024;

interface Closable {
  destroy(): void;
}

/**
 * The connections of one fetcher that wait for their next request, whatever their host and route. A broad crawl meets hosts faster
 * than their connections expire: above the bound, the one that has waited longest is closed.
 */
export class IdleConnections {
  readonly #most: number;
  /** In the order in which they began to wait. */
  readonly #waiting = new Map<Closable, NodeJS.Timeout | undefined>();

  constructor(most = mostIdle()) {
    this.#most = most;
  }

  /**
   * A connection has no request any more.
   *
   * @param ms how long it may wait for the next one; left out, it ends that wait by itself
   */
  keep(connection: Closable, ms?: number): void {
    this.take(connection);
    const timer = ms === undefined ? undefined : setTimeout(() => this.#close(connection), ms).unref();
    this.#waiting.set(connection, timer);
    if (this.#waiting.size <= this.#most) return;
    const [oldest] = this.#waiting.keys();
    if (oldest !== undefined) this.#close(oldest);
  }

  /** A connection has a request again, or is closed. */
  take(connection: Closable): void {
    clearTimeout(this.#waiting.get(connection));
    this.#waiting.delete(connection);
  }

  #close(connection: Closable): void {
    this.take(connection);
    connection.destroy();
  }
}

/** How many a process with these limits keeps. */
export function mostIdle(files = openFileLimit(), memory = memoryLimit()): number {
  return Math.min(MOST, Math.floor(files * PART_OF_FILES), Math.floor((memory * PART_OF_MEMORY) / BYTES_EACH));
}
