import type { ProxyAddress } from '../../task/host/proxy-list.ts';
import { type ProxyDialOptions, ProxyDials } from '../proxies/proxy-dials.ts';
import { Connections } from './connections.ts';

/** The connections of undici through one proxy, kept alive. `proxies/forwarding.ts` has the table of ways. */
export class ProxyConnections {
  /** To the proxy itself, which asks the target. */
  readonly forward = new Connections();
  /** Through it. */
  readonly tunnels = new Connections();
  readonly dials: ProxyDials;

  constructor(proxy: ProxyAddress, options: ProxyDialOptions) {
    this.dials = new ProxyDials(proxy, options);
  }

  close(): void {
    this.forward.close();
    this.tunnels.close();
  }
}
