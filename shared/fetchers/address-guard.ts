import { ADDRCONFIG, promises as dns, type LookupAddress } from 'node:dns';
import { isIP } from 'node:net';
import { quoted } from '../runtime/started-as.ts';
import { type AllowedPrivate, isDenied } from '../task/host/private-address.ts';

/** The address guard's refusal of a private address. No connection was made. */
export class PrivateAddressError extends Error {
  override readonly name = 'PrivateAddressError';
  readonly code = 'ERR_PRIVATE_ADDRESS';
  readonly address: string;
  /** The name or IP literal in the URL. */
  readonly host: string;

  constructor(address: string, host: string) {
    const what = host === address ? `${host} is a private address` : `${host} has the private address ${address}`;
    super(`${what} (--private-hosts ${quoted(host)} allows it)`);
    this.address = address;
    this.host = host;
  }
}

/** Finds all addresses of a host name. */
export type Resolve = (host: string) => Promise<LookupAddress[]>;

/** The resolver of the operating system, including `/etc/hosts`. */
export const systemResolve: Resolve = (host) => dns.lookup(host, { all: true, hints: ADDRCONFIG });

/** Decides which addresses may be connected to, and looks up names. */
export class AddressGuard {
  readonly #allowed: AllowedPrivate;
  readonly #resolve: Resolve;

  constructor(allowed: AllowedPrivate, resolve: Resolve) {
    this.#allowed = allowed;
    this.#resolve = resolve;
  }

  /** Returns the refusal of an IP literal, or `undefined` if it is allowed or the host is a name. */
  refusal(host: string): PrivateAddressError | undefined {
    return isIP(host) !== 0 && isDenied(host, this.#allowed) ? new PrivateAddressError(host, host) : undefined;
  }

  /** Returns all addresses of a name or literal. Rejects with a {@link PrivateAddressError} if any of them is denied. */
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
