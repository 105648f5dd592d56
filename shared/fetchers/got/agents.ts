import http from 'node:http';
import https from 'node:https';
import type { LookupFunction } from 'node:net';
import type { AddressGuard } from '../address-guard.ts';
import { IDLE_MS } from '../fetcher-options.ts';

/** How connections are kept alive. */
export const POOL: http.AgentOptions = { keepAlive: true, scheduling: 'lifo', timeout: IDLE_MS };

/** @returns a function that closes these pools: idle connections at once, and each one in use when its request ends */
export function closerOf(pools: readonly http.Agent[]): () => void {
  let closed = false;
  for (const pool of pools) {
    const keepSocketAlive = pool.keepSocketAlive.bind(pool);
    // Typed `void`, but Node.js uses the result: `false` closes the socket.
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
 * The guard works where connections are made, so it sees every hop of a redirect, and IP literals as well, which never reach a
 * lookup function. A name is looked up once per connection. If any of its addresses is denied, the name is refused; else only
 * these addresses are connected to. There is no second look-up that could answer differently.
 *
 * A kept-alive connection is not checked again, so a pair of pools keeps one allow-list for its whole life.
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
        // Not thrown: the pool also calls this from a socket's event, where nothing would catch it.
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
