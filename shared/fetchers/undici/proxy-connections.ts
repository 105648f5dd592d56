import type { Socket } from 'node:net';
import type { ProxyAddress } from '../../task/host/proxy-list.ts';
import { type ProxyTimeout, within } from '../proxies/proxy-timeout.ts';
import { connectToProxy, openTunnel } from '../proxies/tunnel.ts';
import { Connections } from './connections.ts';
import { type Dial, secured, type TlsSessions } from './dial.ts';

/** undici's connections through one proxy, kept alive. `proxies/forwarding.ts` says which requests are tunnelled. */
export class ProxyConnections {
  /** Connections to the proxy itself, which asks the target. */
  readonly forward = new Connections();
  /** Connections through the proxy. */
  readonly tunnels = new Connections();
  readonly #proxy: ProxyAddress;
  readonly #sessions: TlsSessions;

  constructor(proxy: ProxyAddress, sessions: TlsSessions) {
    this.#proxy = proxy;
    this.#sessions = sessions;
  }

  close(): void {
    this.forward.close();
    this.tunnels.close();
  }

  /** @param proxyTimeout of the request that the connection is made for */
  forwardDial(proxyTimeout: ProxyTimeout): Dial {
    return (_, onDialed) => {
      connectToProxy(this.#proxy, proxyTimeout).then((socket) => onDialed(null, socket), onDialed);
      return () => {};
    };
  }

  /**
   * @param proxyTimeout of the request that the connection is made for
   * @param address of the target; the address guard has allowed it
   */
  tunnelDial(proxyTimeout: ProxyTimeout, address: string): Dial {
    return (target, onDialed) => {
      const { hostname: host, port, isSecure } = target;
      const dial = async (): Promise<Socket> => {
        const socket = await openTunnel(this.#proxy, { host, port, address }, proxyTimeout);
        if (!isSecure) return socket;
        const late = (): Error =>
          Object.assign(new Error(`The handshake took too long: ${host}`), { code: 'ETIMEDOUT' });
        const handshake = new Promise<Socket>((resolve, reject) => {
          const secure: Socket = secured(socket, target, this.#sessions, (error) => {
            if (error === null) resolve(secure);
            else reject(error);
          });
        });
        try {
          return await within(proxyTimeout, handshake, late);
        } catch (error: unknown) {
          socket.destroy();
          throw error;
        }
      };
      dial().then((socket) => onDialed(null, socket), onDialed);
      return () => {};
    };
  }
}
