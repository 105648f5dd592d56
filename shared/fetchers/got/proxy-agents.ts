import http from 'node:http';
import https from 'node:https';
import type { ProxyAddress } from '../../task/host/proxy-list.ts';
import type { AddressGuard } from '../address-guard.ts';
import { MOST_HEADER_BYTES } from '../fetcher-options.ts';
import type { IdleConnections } from '../idle-connections.ts';
import { forwardedRequest, isForwardedBy } from '../proxies/forwarding.ts';
import { judgedAddress } from '../proxies/judged-address.ts';
import type { Route } from '../proxies/proxied-routes.ts';
import { type ProxyDialOptions, ProxyDials } from '../proxies/proxy-dials.ts';
import type { ProxyTimeout } from '../proxies/proxy-timeout.ts';
import { requestTarget } from '../request-url.ts';
import { closerOf, type Dialed, httpPool, httpsPool, notingSent } from './agents.ts';

type OnResponse = (response: http.IncomingMessage) => void;

/** The function with which got makes its requests. */
export type RequestFunction = (
  url: URL,
  options: https.RequestOptions,
  onResponse?: OnResponse,
) => Promise<http.ClientRequest>;

interface ProxyDialed extends Dialed {
  readonly proxyTimeout: ProxyTimeout;
  readonly address: string;
}

interface ProxyAgentsOptions extends ProxyDialOptions {
  readonly guard: AddressGuard;
  readonly idle: IdleConnections;
}

/** got's kept-alive connections through one proxy. `proxies/forwarding.ts` says which requests are tunnelled. */
export class ProxyAgents {
  readonly #proxy: ProxyAddress;
  readonly #options: ProxyAgentsOptions;
  readonly #forward: http.Agent;
  readonly #http: http.Agent;
  readonly #https: https.Agent;
  /** Closes idle connections now, and each one in use when its request ends. */
  readonly close: () => void;

  constructor(proxy: ProxyAddress, options: ProxyAgentsOptions) {
    this.#proxy = proxy;
    this.#options = options;
    const { idle } = options;
    const dials = new ProxyDials(proxy, options);
    const tunnel = ({ proxyTimeout, address }: ProxyDialed) => dials.tunnel(proxyTimeout, address);
    this.#forward = httpPool(idle, ({ proxyTimeout }: ProxyDialed) => dials.forward(proxyTimeout));
    this.#http = httpPool(idle, tunnel);
    this.#https = httpsPool(idle, tunnel);
    this.close = closerOf([this.#forward, this.#http, this.#https]);
  }

  /** Returns agents for the same proxy that have no connections yet. */
  fresh(): ProxyAgents {
    return new ProxyAgents(this.#proxy, this.#options);
  }

  /** Returns a function that makes requests through the proxy. It sends nothing before the address guard has allowed the request's host. */
  requests(
    { proxyTimeout, forwarded }: Route<ProxyAgents>,
    { clock, onGone }: Pick<Dialed, 'clock' | 'onGone'>,
  ): RequestFunction {
    return async (url, { method, headers }, onResponse) => {
      const address = await judgedAddress(this.#options.guard, url, proxyTimeout);
      const dialed = { method, proxyTimeout, address, clock, onGone, maxHeaderSize: MOST_HEADER_BYTES };
      if (isForwardedBy(this.#proxy, url.href)) {
        forwarded();
        const { host, port } = this.#proxy;
        const { path, headers: added } = forwardedRequest(this.#proxy, url);
        const sent = { ...(headers as http.OutgoingHttpHeaders), ...added };
        // Read strictly: this connection also carries the answers of other sites.
        const options: ProxyDialed = { ...dialed, host, port, path, headers: sent, agent: this.#forward };
        return notingSent(http.request(options, onResponse), clock, false);
      }
      const [{ request }, agent] = url.protocol === 'https:' ? [https, this.#https] : [http, this.#http];
      const path = requestTarget(url);
      const options: ProxyDialed = { ...dialed, path, headers, agent, insecureHTTPParser: true };
      return notingSent(request(url, options, onResponse), clock, true);
    };
  }
}
