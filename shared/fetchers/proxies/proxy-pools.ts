import http from 'node:http';
import https from 'node:https';
import type { Socket } from 'node:net';
import type { ProxyAddress } from '../../task/host/proxy-list.ts';
import type { AddressGuard } from '../address-guard.ts';
import { closerOf, POOL } from '../connection-pool.ts';
import { type Patience, within } from './patience.ts';
import { authorizationOf, connectToProxy, openTunnel } from './tunnel.ts';

type OnResponse = (response: http.IncomingMessage) => void;

/** How got has its requests made. */
export type RequestFunction = (
  url: URL,
  options: https.RequestOptions,
  onResponse?: OnResponse,
) => Promise<http.ClientRequest>;

/** What a pool is told of a request, for the case that it needs a new connection. */
interface Dialed extends https.RequestOptions {
  readonly patience: Patience;
  readonly address: string;
}
type OnConnection = (error: Error | null, socket?: Socket) => void;

/**
 * The connections of a fetcher through one proxy, kept alive.
 *
 * | target     | proxy           | how                                                                              |
 * |------------|-----------------|----------------------------------------------------------------------------------|
 * | `https://` | any             | a tunnel for each host: CONNECT, or SOCKS                                         |
 * | `http://`  | SOCKS           | the same                                                                         |
 * | `http://`  | HTTP, HTTPS     | absolute form (RFC 9112 section 3.2.2): most such proxies tunnel to port 443 only  |
 *
 * The absolute form is put together from the URL's parts. Of a path that begins with two slashes, resolving it would make
 * another host.
 */
export class ProxyPools {
  readonly #proxy: ProxyAddress;
  readonly #guard: AddressGuard;
  readonly #forward = new http.Agent(POOL);
  readonly #http = new http.Agent(POOL);
  readonly #https = new https.Agent(POOL);
  /** Closes idle connections now, and each one in use when its request ends. */
  readonly close = closerOf([this.#forward, this.#http, this.#https]);

  constructor(proxy: ProxyAddress, guard: AddressGuard) {
    this.#proxy = proxy;
    this.#guard = guard;
    const overTls = this.#https.createConnection.bind(this.#https);
    dialing(this.#forward, ({ patience }) => connectToProxy(proxy, patience));
    dialing(this.#http, (options) => this.#tunnel(options));
    dialing(this.#https, async (options) => {
      const socket = await this.#tunnel(options);
      return overTls({ ...options, socket } as https.RequestOptions) as Socket;
    });
  }

  /** Does the proxy itself answer requests for this URL, so that an answer may be its own? */
  answersFor(url: string): boolean {
    return this.#proxy.scheme !== 'socks5' && url.startsWith('http:');
  }

  /**
   * Makes requests through the proxy, each when the address guard has let its host pass: nothing is sent before.
   *
   * @param onForwarded told when the proxy is to ask the target itself
   */
  requests(patience: Patience, onForwarded: () => void): RequestFunction {
    return async (url, { method, headers }, onResponse) => {
      const host = url.hostname.replace(/^\[|\]$/g, '');
      const address = await this.#judged(host, patience);
      const dialed = { method, patience, address };
      if (this.answersFor(url.href)) {
        onForwarded();
        const { host: proxyHost, port } = this.#proxy;
        const options: Dialed = {
          ...dialed,
          host: proxyHost,
          port,
          path: `http://${url.host}${url.pathname}${url.search}`,
          headers: { ...(headers as http.OutgoingHttpHeaders), host: url.host, ...authorizationOf(this.#proxy) },
          agent: this.#forward,
        };
        return http.request(options, onResponse);
      }
      const [{ request }, agent] = url.protocol === 'https:' ? [https, this.#https] : [http, this.#http];
      const options: Dialed = { ...dialed, headers, agent };
      return request(url, options, onResponse);
    };
  }

  /** An address of the host, IPv4 if there is one, since few proxies can do without. */
  async #judged(host: string, patience: Patience): Promise<string> {
    const late = (): Error => Object.assign(new Error(`looking up ${host} took too long`), { code: 'ETIMEDOUT' });
    const addresses = await within(patience, this.#guard.addressesOf(host), late);
    const best = addresses.find(({ family }) => family === 4) ?? addresses[0];
    if (best === undefined) throw Object.assign(new Error(`${host} has no address`), { code: 'ENOTFOUND' });
    return best.address;
  }

  #tunnel({ host, port, address, patience }: Dialed): Promise<Socket> {
    return openTunnel(this.#proxy, { host: host ?? '', port: Number(port), address }, patience);
  }
}

/** Has a pool get its connections from `dial`. */
function dialing(pool: http.Agent, dial: (options: Dialed) => Promise<Socket>): void {
  pool.createConnection = (options, onConnection) => {
    const done = onConnection as OnConnection;
    dial(options as Dialed).then(
      (socket) => done(null, socket),
      (error: Error) => done(error),
    );
    return undefined;
  };
}
