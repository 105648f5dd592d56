import type { Socket } from 'node:net';
import type { ProxyAddress } from '../../task/host/proxy-list.ts';
import type { ConnectTurns } from '../connect-turns.ts';
import { type Dial, type DialTarget, secured, type TlsOptions } from '../dial.ts';
import { type ProxyTimeout, within } from './proxy-timeout.ts';
import { connectToProxy, openTunnel } from './tunnel.ts';

/** Options shared by all connections of a fetcher. */
export interface ProxyDialOptions {
  readonly turns: ConnectTurns;
  /** For TLS with the targets; TLS with the proxy itself is up to `tunnel.ts`. */
  readonly tls: TlsOptions;
}

/** Connects to one proxy, and through it. Each dial serves one request, whose limits and cancellation are in `proxyTimeout`. */
export class ProxyDials {
  readonly #proxy: ProxyAddress;
  readonly #options: ProxyDialOptions;

  constructor(proxy: ProxyAddress, options: ProxyDialOptions) {
    this.#proxy = proxy;
    this.#options = options;
  }

  /** Returns a dial that connects to the proxy itself, which asks the target. */
  forward(proxyTimeout: ProxyTimeout): Dial {
    return this.#inTurn(() => connectToProxy(this.#proxy, proxyTimeout));
  }

  /** Returns a dial that connects through the proxy. `address` is the target's, and the address guard has allowed it. */
  tunnel(proxyTimeout: ProxyTimeout, address: string): Dial {
    return this.#inTurn((target) => this.#throughProxy(target, proxyTimeout, address));
  }

  #inTurn(connect: (target: DialTarget) => Promise<Socket>): Dial {
    return (target, clock, onDialed) => {
      const turn = this.#options.turns.take(clock, () => {
        connect(target)
          .finally(() => turn.end())
          .then((socket) => onDialed(null, socket), onDialed);
      });
      return () => turn.end();
    };
  }

  async #throughProxy(target: DialTarget, proxyTimeout: ProxyTimeout, address: string): Promise<Socket> {
    const { hostname: host, port, isSecure } = target;
    const socket = await openTunnel(this.#proxy, { host, port, address }, proxyTimeout);
    if (!isSecure) return socket;
    const late = (): Error => Object.assign(new Error(`The handshake took too long: ${host}`), { code: 'ETIMEDOUT' });
    const handshake = new Promise<Socket>((resolve, reject) => {
      const secure: Socket = secured(socket, target, this.#options.tls, (error) => {
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
  }
}
