import http from 'node:http';
import https from 'node:https';
import type { LookupFunction } from 'node:net';
import type { AddressGuard } from '../address-guard.ts';
import { IDLE_MS } from '../fetcher-options.ts';

/** How connections are kept alive. */
export const POOL: http.AgentOptions = { keepAlive: true, scheduling: 'lifo', timeout: IDLE_MS };

/** @returns what closes idle connections of these pools at once, and each one in use when its request ends */
export function closerOf(pools: readonly http.Agent[]): () => void {
  let closed = false;
  for (const pool of pools) {
    const keepSocketAlive = pool.keepSocketAlive.bind(pool);
    // Typed `void`, yet Node reads the answer: `false` closes the socket.
    pool.keepSocketAlive = (socket) => !closed && keepSocketAlive(socket);
  }
  return () => {
    closed = true;
    for (const { freeSockets } of pools) {
      for (const sockets of Object.values(freeSockets)) for (const socket of sockets ?? []) socket.destroy();
    }
  };
}

/**
 * The two connection pools of a fetcher, `http` and `https`, behind one address guard.
 *
 * The guard sits where connections are made, so each hop of a redirect passes it, and an IP literal does too, which no
 * lookup function ever sees. A name is looked up once per connection; if any of its addresses is denied it is refused,
 * else exactly these addresses are connected to. There is no second look-up that could answer differently.
 *
 * A connection that is kept alive has been judged already. One pair of pools therefore has one list, for good.
 */
export class GuardedAgents {
  readonly http = new http.Agent(POOL);
  readonly https = new https.Agent(POOL);
  /** Closes idle connections now, and each one in use when its request ends. */
  readonly close = closerOf([this.http, this.https]);
  readonly #guard: AddressGuard;

  constructor(guard: AddressGuard) {
    this.#guard = guard;
    this.#watch(this.http);
    this.#watch(this.https);
  }

  #watch(pool: http.Agent): void {
    const connect = pool.createConnection.bind(pool);
    pool.createConnection = (options, onConnection) => {
      const refusal = this.#guard.refusal(options.host ?? '');
      if (refusal !== undefined) {
        // Not thrown: the pool also comes here from a socket's event, where nobody would catch it.
        (onConnection as ((error: Error) => void) | undefined)?.(refusal);
        return undefined;
      }
      return connect({ ...options, lookup: this.#lookup }, onConnection);
    };
  }

  readonly #lookup: LookupFunction = (host, options, callback) => {
    this.#guard.addressesOf(host).then(
      (addresses) => {
        const [first] = addresses;
        if (options.all || first === undefined) callback(null, addresses);
        else callback(null, first.address, first.family);
      },
      (error: NodeJS.ErrnoException) => callback(error, []),
    );
  };
}
