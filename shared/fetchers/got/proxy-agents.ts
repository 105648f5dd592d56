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

/** How got has its requests made. */
export type RequestFunction = (
  url: URL,
  options: https.RequestOptions,
  onResponse?: OnResponse,
) => Promise<http.ClientRequest>;

/** What a pool is told of a request, for the case that it needs a new connection. */
interface Dialed extends https.RequestOptions {
  readonly proxyTimeout: ProxyTimeout;
  readonly address: string;
}
type OnConnection = (error: Error | null, socket?: Socket) => void;

/** The connections of got through one proxy, kept alive. `proxies/forwarding.ts` has the table of ways. */
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

  /** Makes requests through the proxy, each when the address guard has let its host pass: nothing is sent before. */
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
