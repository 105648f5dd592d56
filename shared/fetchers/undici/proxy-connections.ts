import type { ProxyAddress } from '../../task/host/proxy-list.ts';
import { type ProxyDialOptions, ProxyDials } from '../proxies/proxy-dials.ts';
import { Connections } from './connections.ts';

/** undici's connections through one proxy, kept alive. `proxies/forwarding.ts` says which requests are tunnelled. */
export class ProxyConnections {
  /** Connections to the proxy itself, which asks the target. */
  readonly forward = new Connections();
  /** Connections through the proxy. */
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
