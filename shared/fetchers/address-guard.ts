import { ADDRCONFIG, promises as dns, type LookupAddress } from 'node:dns';
import http from 'node:http';
import https from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { type AllowedPrivate, isDenied } from '../task/private-address.ts';

/** The address guard's refusal. No connection was made. */
export class PrivateAddressError extends Error {
  override readonly name = 'PrivateAddressError';
  readonly code = 'ERR_PRIVATE_ADDRESS';
  readonly address: string;
  /** The name, or the literal, that the URL has. */
  readonly host: string;

  constructor(address: string, host: string) {
    super(host === address ? `${host} is a private address` : `${host} has the private address ${address}`);
    this.address = address;
    this.host = host;
  }
}

/** Finds all addresses of a host name. */
export type Resolve = (host: string) => Promise<LookupAddress[]>;

/** The resolver of the operating system, `/etc/hosts` included. */
export const systemResolve: Resolve = (host) => dns.lookup(host, { all: true, hints: ADDRCONFIG });

/** Servers close idle connections after anything from 5 s up; a slow crawl asks a host every second. */
const IDLE_MS = 10_000;

const POOL: http.AgentOptions = { keepAlive: true, scheduling: 'lifo', timeout: IDLE_MS };

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
  readonly #allowed: AllowedPrivate;
  readonly #resolve: Resolve;
  #closed = false;

  constructor(allowed: AllowedPrivate, resolve: Resolve) {
    this.#allowed = allowed;
    this.#resolve = resolve;
    this.#guard(this.http);
    this.#guard(this.https);
  }

  /** Closes idle connections now, and each one in use when its request ends. */
  close(): void {
    this.#closed = true;
    for (const pool of [this.http, this.https]) {
      for (const sockets of Object.values(pool.freeSockets)) {
        for (const socket of sockets ?? []) socket.destroy();
      }
    }
  }

  #guard(pool: http.Agent): void {
    const connect = pool.createConnection.bind(pool);
    pool.createConnection = (options, onConnection) => {
      const host = options.host ?? '';
      if (isIP(host) !== 0 && isDenied(host, this.#allowed)) {
        // Not thrown: the pool also comes here from a socket's event, where nobody would catch it.
        (onConnection as ((error: Error) => void) | undefined)?.(new PrivateAddressError(host, host));
        return undefined;
      }
      return connect({ ...options, lookup: this.#lookup }, onConnection);
    };
    const keepSocketAlive = pool.keepSocketAlive.bind(pool);
    // Typed `void`, yet Node reads the answer: `false` closes the socket.
    pool.keepSocketAlive = (socket) => !this.#closed && keepSocketAlive(socket);
  }

  readonly #lookup: LookupFunction = (host, options, callback) => {
    this.#addressesOf(host).then(
      (addresses) => {
        const [first] = addresses;
        if (options.all || first === undefined) callback(null, addresses);
        else callback(null, first.address, first.family);
      },
      (error: NodeJS.ErrnoException) => callback(error, []),
    );
  };

  async #addressesOf(host: string): Promise<LookupAddress[]> {
    const addresses = await this.#resolve(host);
    const denied = addresses.find(({ address }) => isDenied(address, this.#allowed, host));
    if (denied !== undefined) throw new PrivateAddressError(denied.address, host);
    return addresses;
  }
}
