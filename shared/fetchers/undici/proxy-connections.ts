import type { ProxyAddress } from '../../task/host/proxy-list.ts';
import type { IdleConnections } from '../idle-connections.ts';
import { type ProxyDialOptions, ProxyDials } from '../proxies/proxy-dials.ts';
import { Connections } from './connections.ts';

/** undici's kept-alive connections through one proxy. `proxies/forwarding.ts` says which requests are tunnelled. */
export class ProxyConnections {
  /** Connections to the proxy itself, which asks the target. */
  readonly forward: Connections;
  /** Connections through the proxy. */
  readonly tunnels: Connections;
  readonly dials: ProxyDials;

  constructor(proxy: ProxyAddress, { idle, ...connecting }: ProxyDialOptions & { readonly idle: IdleConnections }) {
    this.forward = new Connections(idle, false);
    this.tunnels = new Connections(idle);
    this.dials = new ProxyDials(proxy, connecting);
  }

  close(): void {
    this.forward.close();
    this.tunnels.close();
  }
}
