import type { ProxyAddress } from '../../task/host/proxy-list.ts';

/** The party at fault, judging by the proxy's answer. */
export type Fault =
  /** The proxy: no host could be reached through it. */
  | 'proxy'
  /** Unclear: the proxy answered that it can't reach the target. */
  | 'unknown';

/**
 * A proxy refused or failed to pass a request on, so the target got no request.
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
