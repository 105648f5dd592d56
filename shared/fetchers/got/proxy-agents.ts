import http from 'node:http';
import https from 'node:https';
import type { Socket } from 'node:net';
import type { ProxyAddress } from '../../task/host/proxy-list.ts';
import type { AddressGuard } from '../address-guard.ts';
import { forwardedRequest, isForwardedBy } from '../proxies/forwarding.ts';
import { judgedAddress } from '../proxies/judged-address.ts';
import type { Route } from '../proxies/proxied-routes.ts';
import type { ProxyTimeout } from '../proxies/proxy-timeout.ts';
import { connectToProxy, openTunnel } from '../proxies/tunnel.ts';
import { closerOf, POOL } from './agents.ts';

type OnResponse = (response: http.IncomingMessage) => void;

/** The function with which got makes its requests. */
export type RequestFunction = (
  url: URL,
  options: https.RequestOptions,
  onResponse?: OnResponse,
) => Promise<http.ClientRequest>;

/** What a pool knows about a request when it needs a new connection for it. */
interface Dialed extends https.RequestOptions {
  readonly proxyTimeout: ProxyTimeout;
  readonly address: string;
}
type OnConnection = (error: Error | null, socket?: Socket) => void;

/** got's connections through one proxy, kept alive. `proxies/forwarding.ts` says which requests are tunnelled. */
export class ProxyAgents {
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
    dialing(this.#forward, ({ proxyTimeout }) => connectToProxy(proxy, proxyTimeout));
    dialing(this.#http, (options) => this.#tunnel(options));
    dialing(this.#https, async (options) => {
      const socket = await this.#tunnel(options);
      return overTls({ ...options, socket } as https.RequestOptions) as Socket;
    });
  }

  /** Makes requests through the proxy. Nothing is sent before the address guard has allowed the request's host. */
  requests({ proxyTimeout, forwarded }: Route<ProxyAgents>): RequestFunction {
    return async (url, { method, headers }, onResponse) => {
      const address = await judgedAddress(this.#guard, url, proxyTimeout);
      const dialed = { method, proxyTimeout, address };
      if (isForwardedBy(this.#proxy, url.href)) {
        forwarded();
        const { host, port } = this.#proxy;
        const { path, headers: added } = forwardedRequest(this.#proxy, url);
        const sent = { ...(headers as http.OutgoingHttpHeaders), ...added };
        const options: Dialed = { ...dialed, host, port, path, headers: sent, agent: this.#forward };
        return http.request(options, onResponse);
      }
      const [{ request }, agent] = url.protocol === 'https:' ? [https, this.#https] : [http, this.#http];
      const options: Dialed = { ...dialed, headers, agent };
      return request(url, options, onResponse);
    };
  }

  #tunnel({ host, port, address, proxyTimeout }: Dialed): Promise<Socket> {
    return openTunnel(this.#proxy, { host: host ?? '', port: Number(port), address }, proxyTimeout);
  }
}

/** Makes a pool get its connections from `dial`. */
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
