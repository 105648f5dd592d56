import { FetchError } from '../../ports/fetcher.ts';
import type { ProxyAddress } from '../../task/host/proxy-list.ts';
import { PHASE_MS } from '../fetcher-options.ts';
import type { RequestClock } from '../request-clock.ts';
import { isForwardedBy } from './forwarding.ts';
import { ProxyError } from './proxy-error.ts';
import type { ProxyTimeout } from './proxy-timeout.ts';
import type { Rotation } from './rotation.ts';
import { loginTrouble } from './tunnel.ts';

/** A fetcher's connections through one proxy. */
interface Connections {
  /** Closes idle connections now, and each one in use when its request ends. */
  close(): void;
}

/** One proxy, for one request. */
export interface Route<T extends Connections> {
  readonly proxy: ProxyAddress;
  readonly connections: T;
  /** Limits for each step towards a connection. */
  readonly proxyTimeout: ProxyTimeout;
  /** Milliseconds left for the whole request. */
  readonly timeoutMs: number;
  /** Returns the error if an answer is the proxy's own and not the target's. */
  problemOf(answer: { readonly url: string; readonly status: number }): ProxyError | undefined;
  /** Whether the proxy itself asked the target, so that either can be at fault for a failure. */
  readonly isForwarded: boolean;
  /** Must be called when the request is forwarded: see {@link isForwarded}. */
  forwarded(): void;
  /** Must be called when nobody waits for the request any more. */
  giveUp(): void;
}

/** A host that this many proxies can't reach counts as down. */
const MOST_UNREACHED = 3;
/** With less than this fraction of its time left, a request isn't tried again. */
const TOO_LATE = 1 / 8;

interface ProxiedRoutesOptions<T> {
  readonly rotation: Rotation;
  /** Called once for each proxy. */
  readonly open: (proxy: ProxyAddress) => T;
}

/**
 * Sends requests through the proxies of one process.
 *
 * A request uses one proxy. If that fails, the next one is tried within the request's time limit. When a proxy answers that it can't reach
 * the target, either could be down: if another proxy reaches it, the first proxy is at fault; if none does, the target is. A dead host
 * therefore doesn't put the proxies to rest, and its tasks still fail in the end.
 */
export class ProxiedRoutes<T extends Connections> {
  readonly #rotation: Rotation;
  readonly #open: (proxy: ProxyAddress) => T;
  readonly #opened = new Map<ProxyAddress, T>();

  constructor({ rotation, open }: ProxiedRoutesOptions<T>) {
    this.#rotation = rotation;
    this.#open = open;
  }

  /** Makes a request with `ask`, trying one proxy after another. Rejects with reason `proxy` if none can be used. */
  async ask<A>(url: string, timeoutMs: number, clock: RequestClock, ask: (route: Route<T>) => Promise<A>): Promise<A> {
    const endsAtMs = clock.elapsedMs + timeoutMs;
    const host = URL.parse(url)?.host ?? '';
    const unreached: ProxyError[] = [];
    for (const proxy of this.#rotation.order()) {
      const leftMs = endsAtMs - clock.elapsedMs;
      if (leftMs < timeoutMs * TOO_LATE || unreached.length >= MOST_UNREACHED) break;
      const route = this.#route(proxy, leftMs);
      try {
        const answer = await ask(route);
        this.#rotation.worked(proxy);
        for (const error of unreached) this.#rotation.failed(error.proxy, error.message);
        return answer;
      } catch (error: unknown) {
        const trouble = error instanceof FetchError ? error.cause : undefined;
        if (!(trouble instanceof ProxyError)) {
          if (route.isForwarded) this.#note(error, proxy, host);
          throw error;
        }
        if (trouble.fault === 'unknown') unreached.push(trouble);
        else this.#rotation.failed(proxy, trouble.message);
      }
    }
    throw this.#failure(host, unreached);
  }

  close(): void {
    for (const connections of this.#opened.values()) connections.close();
  }

  /** Notes a failure that could be the target's or the proxy's; requests to other hosts will show which. */
  #note(error: unknown, proxy: ProxyAddress, host: string): void {
    if (!(error instanceof FetchError) || error.status !== undefined) return;
    if (error.reason !== 'timeout' && error.reason !== 'connection') return;
    this.#rotation.unreached(proxy, host, `${proxy.name} did not answer: ${error.message}`);
  }

  #failure(host: string, unreached: readonly ProxyError[]): FetchError {
    for (const { proxy, message } of unreached) this.#rotation.unreached(proxy, host, message);
    const honest = unreached.find(({ proxy }) => !this.#rotation.rests(proxy));
    if (honest !== undefined) return new FetchError(honest.means, honest.message, { cause: honest });
    return new FetchError('proxy', `No proxy can be used: ${this.#rotation.troubles.slice(0, 3).join('; ')}`);
  }

  #route(proxy: ProxyAddress, timeoutMs: number): Route<T> {
    const connections = this.#opened.get(proxy) ?? this.#open(proxy);
    this.#opened.set(proxy, connections);
    const givenUp = new AbortController();
    // Half of the time left, so that the error names the step that took too long, and another proxy can still be tried.
    const phaseMs = Math.ceil(Math.min(PHASE_MS, timeoutMs / 2));
    // A plain property and not a getter: V8 gives each object literal with a getter its own shape, which it keeps until a full collection.
    const route: Route<T> & { isForwarded: boolean } = {
      proxy,
      connections,
      proxyTimeout: { signal: givenUp.signal, phaseMs, lookup: this.#rotation.lookup },
      isForwarded: false,
      forwarded: () => {
        route.isForwarded = true;
      },
      timeoutMs: Math.ceil(timeoutMs),
      problemOf: ({ url, status }) =>
        status === 407 && isForwardedBy(proxy, url)
          ? new ProxyError(proxy, loginTrouble(proxy, status), 'proxy')
          : undefined,
      giveUp: () => givenUp.abort(),
    };
    return route;
  }
}
