import type { ProxyAddress } from '../../task/host/proxy-list.ts';

/** Who is at fault, as far as the proxy's answer tells. */
export type Fault =
  /** The proxy is at fault: no host could be reached through it. */
  | 'proxy'
  /** The proxy answered that it can't reach the target: either may be at fault. */
  | 'unknown';

/**
 * A proxy refused or failed to pass a request on. The target was not asked.
 *
 * The error has no cause, since errors of the libraries below contain the proxy's login.
 */
export class ProxyError extends Error {
  override readonly name = 'ProxyError';
  readonly code = 'ERR_PROXY';
  /** Private, since it contains the login, which must not be printed with the error. */
  readonly #proxy: ProxyAddress;
  readonly fault: Fault;
  /** The failure to report if the target turns out to be at fault. */
  readonly means: 'connection' | 'timeout';

  /** @param trouble the end of a sentence that begins with the proxy's name */
  constructor(proxy: ProxyAddress, trouble: string, fault: Fault, means: 'connection' | 'timeout' = 'connection') {
    super(`${proxy.name} ${trouble}`);
    this.#proxy = proxy;
    this.fault = fault;
    this.means = means;
  }

  get proxy(): ProxyAddress {
    return this.#proxy;
  }
}
