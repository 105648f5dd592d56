import type { ProxyAddress } from '../../task/host/proxy-list.ts';

/** Whose fault it is, as far as the proxy's answer tells. */
export type Fault =
  /** The proxy is at fault: no host could be reached through it. */
  | 'proxy'
  /** The proxy answered that it can't reach the target: either may be at fault. */
  | 'unknown';

/**
 * A proxy that would not, or could not, pass a request on. The target has not been asked.
 *
 * It has no cause: errors of the libraries below hold the proxy's login.
 */
export class ProxyError extends Error {
  override readonly name = 'ProxyError';
  readonly code = 'ERR_PROXY';
  /** Private, since it has the login, which must not be printed with the error. */
  readonly #proxy: ProxyAddress;
  readonly fault: Fault;
  /** What it is for the target, when it turns out to be that one's fault. */
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
