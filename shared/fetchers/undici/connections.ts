import { LRUCache } from 'lru-cache';
import type { Dial } from '../dial.ts';
import type { IdleConnections } from '../idle-connections.ts';
import type { RequestClock } from '../request-clock.ts';
import { Connection } from './connection.ts';

/** Maximum origins whose protocol is remembered. A forgotten one has to refuse HTTP/2 once more. */
const MOST_ORIGINS = 10_000;

/** The connections to one origin. */
interface Group {
  /** Connections without a request. The one used last is used first, so that the others can expire. */
  readonly idle: Connection[];
  /** A connection that carries several requests at once. */
  shared: Connection | undefined;
  /** The connection begun last, if it is not gone. */
  latest: Connection | undefined;
  /** All connections, including those being made. */
  readonly all: Set<Connection>;
}

/**
 * A fetcher's connections along one route, kept alive: one per concurrent request, or one for all of them if the server speaks
 * HTTP/2.
 */
export class Connections {
  readonly #idle: IdleConnections;
  readonly #isLenient: boolean;
  readonly #groups = new Map<string, Group>();
  /** The protocol of origins that speak HTTP/2, or have refused it. */
  readonly #protocols = new LRUCache<string, 'HTTP/2' | 'HTTP/1.1 only'>({ max: MOST_ORIGINS });
  #isClosed = false;

  /** @param isLenient whether answers are read as browsers read them; must be false where one connection carries those of several sites */
  constructor(idle: IdleConnections, isLenient = true) {
    this.#idle = idle;
    this.#isLenient = isLenient;
  }

  /**
   * Takes a connection for a request. While one is being made to a server of HTTP/2, requests wait for it instead of making others: after
   * the end of a connection that carried a hundred requests, all of them need another.
   *
   * @param dial makes a new connection if none is free
   * @param clock the request's clock
   * @param isFresh whether only a connection will do that has carried no answer yet
   */
  take(origin: string, dial: Dial, clock: RequestClock, isFresh = false): Connection {
    const group = this.#groupOf(origin);
    const protocol = this.#protocols.get(origin);
    const isHttp1Only = protocol === 'HTTP/1.1 only';
    const { shared, latest } = group;
    if (shared?.hasRoom && !isHttp1Only && !(isFresh && shared.isKept)) return this.#taken(shared);
    if (latest?.mayGetRoom && protocol === 'HTTP/2') return latest;
    if (!isFresh) {
      for (let kept = group.idle.pop(); kept !== undefined; kept = group.idle.pop())
        if (kept.isUsable) return this.#taken(kept);
    }
    const events = {
      free: (connection: Connection) => this.#free(connection, group),
      gone: (connection: Connection) => this.#gone(connection, group, origin),
      speaks: (isHttp2: boolean) => this.#speaks(origin, isHttp2),
      http1Required: () => void this.#protocols.set(origin, 'HTTP/1.1 only'),
    };
    const made = new Connection(origin, dial, clock, events, { isLenient: this.#isLenient, isHttp1Only });
    group.all.add(made);
    group.latest = made;
    return made;
  }

  /** Closes idle connections now, and each one in use when its request ends. */
  close(): void {
    this.#isClosed = true;
    for (const { all } of [...this.#groups.values()]) {
      for (const connection of [...all]) if (connection.isIdle) connection.destroy();
    }
  }

  #taken(connection: Connection): Connection {
    this.#idle.take(connection);
    return connection;
  }

  #groupOf(origin: string): Group {
    const known = this.#groups.get(origin);
    if (known !== undefined) return known;
    const group: Group = { idle: [], shared: undefined, latest: undefined, all: new Set() };
    this.#groups.set(origin, group);
    return group;
  }

  #speaks(origin: string, isHttp2: boolean): void {
    const known = this.#protocols.get(origin);
    if (isHttp2 && known === undefined) this.#protocols.set(origin, 'HTTP/2');
    else if (!isHttp2 && known === 'HTTP/2') this.#protocols.delete(origin);
  }

  #free(connection: Connection, group: Group): void {
    if (this.#isClosed) {
      if (connection.isIdle) connection.destroy();
    } else if (!connection.isShared) group.idle.push(connection);
    else if (group.shared === undefined || !group.shared.isUsable) group.shared = connection;
    if (connection.isIdle && connection.isUsable) this.#idle.keep(connection);
  }

  #gone(connection: Connection, group: Group, origin: string): void {
    group.all.delete(connection);
    this.#idle.take(connection);
    if (group.shared === connection) group.shared = undefined;
    if (group.latest === connection) group.latest = undefined;
    const at = group.idle.indexOf(connection);
    if (at >= 0) group.idle.splice(at, 1);
    if (group.all.size === 0) this.#groups.delete(origin);
  }
}
