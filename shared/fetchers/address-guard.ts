import { ADDRCONFIG, promises as dns, type LookupAddress } from 'node:dns';
import http from 'node:http';
import https from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { type AllowedPrivate, isDenied } from '../task/host/private-address.ts';
import { closerOf, POOL } from './connection-pool.ts';

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

/** Says which addresses may be connected to, and of a name, which ones it has. */
export class AddressGuard {
  readonly #allowed: AllowedPrivate;
  readonly #resolve: Resolve;

  constructor(allowed: AllowedPrivate, resolve: Resolve) {
    this.#allowed = allowed;
    this.#resolve = resolve;
  }

  /** Why a literal must not be connected to; nothing if it may, or if it is a name. */
  refusal(host: string): PrivateAddressError | undefined {
    return isIP(host) !== 0 && isDenied(host, this.#allowed) ? new PrivateAddressError(host, host) : undefined;
  }

  /** All addresses of a name or a literal. Rejects with a {@link PrivateAddressError} when one of them is denied. */
  async addressesOf(host: string): Promise<LookupAddress[]> {
    const refusal = this.refusal(host);
    if (refusal !== undefined) throw refusal;
    const family = isIP(host);
    if (family !== 0) return [{ address: host, family }];
    const addresses = await this.#resolve(host);
    const denied = addresses.find(({ address }) => isDenied(address, this.#allowed, host));
    if (denied !== undefined) throw new PrivateAddressError(denied.address, host);
    return addresses;
  }
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
