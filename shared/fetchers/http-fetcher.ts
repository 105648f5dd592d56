import { isIP } from 'node:net';
import {
  type BodyBudget,
  type DocumentRequest,
  FetchError,
  type FetchedPage,
  type Fetcher,
  type MemoryShare,
  type OpenDocument,
  type PageRequest,
} from '../ports/fetcher.ts';
import { HostHeaders } from '../task/host/host-headers.ts';
import { NOTHING_PRIVATE } from '../task/host/private-address.ts';
import { AddressGuard, systemResolve } from './address-guard.ts';
import type { Answer } from './answer.ts';
import type { Asked } from './asked.ts';
import { BodyMemory } from './body-memory.ts';
import { ConnectTurns } from './connect-turns.ts';
import { type Dial, directDial, newSessions, type TlsOptions } from './dial.ts';
import { BODY_MEMORY_BYTES, type FetcherOptions, LOOKUP_MS, PHASE_MS } from './fetcher-options.ts';
import { IdleConnections } from './idle-connections.ts';
import { OwnNetwork } from './own-network.ts';
import type { ProxyDialOptions } from './proxies/proxy-dials.ts';
import { within } from './proxies/proxy-timeout.ts';
import { RequestClock } from './request-clock.ts';
import { Certificates, SYSTEM_TRUST } from './trust.ts';

/** The common part of all fetchers: options, limits, and the two kinds of request. A subclass decides how a request is made. */
export abstract class HttpFetcher implements Fetcher, BodyBudget {
  protected readonly timeoutMs: number;
  /** Time limit of each phase before the answer, except the look-up. */
  protected readonly phaseMs: number;
  protected readonly hostHeaders: HostHeaders;
  protected readonly guard: AddressGuard;
  protected readonly memory: BodyMemory;
  /** Options shared by all its connections, including those through proxies. */
  protected readonly connecting: ProxyDialOptions;
  /** Connects to hosts directly. */
  protected readonly dial: Dial;
  protected readonly idle: IdleConnections;
  readonly #proxies: FetcherOptions['proxies'];
  readonly #lookupMs: number;
  readonly #network = new OwnNetwork();

  /** @param protocols the protocols it can use over TLS, the preferred one first */
  constructor(options: FetcherOptions, protocols: TlsOptions['protocols']) {
    const { timeoutMs, hostHeaders = HostHeaders.none } = options;
    this.timeoutMs = timeoutMs;
    this.phaseMs = Math.min(timeoutMs, PHASE_MS);
    this.#lookupMs = Math.min(timeoutMs, LOOKUP_MS);
    this.hostHeaders = hostHeaders;
    this.guard = new AddressGuard(options.allowedPrivate ?? NOTHING_PRIVATE, options.resolve ?? systemResolve);
    this.memory = options.bodyMemory ?? new BodyMemory(BODY_MEMORY_BYTES);
    const certificates = new Certificates(options.trust ?? SYSTEM_TRUST);
    const tls = { sessions: newSessions(), protocols, certificates };
    this.#proxies = options.proxies;
    this.idle = options.idleConnections ?? new IdleConnections();
    this.connecting = { turns: options.connectTurns ?? new ConnectTurns(), tls };
    const { guard, connecting, phaseMs } = this;
    this.dial = directDial({ ...connecting, guard, phaseMs, lookupMs: this.#lookupMs });
  }

  /** Makes a request. Resolves once the headers are in, or rejects if they make the body unwanted. */
  protected abstract ask(asked: Asked, clock: RequestClock): Promise<Answer>;

  abstract stop(): Promise<void>;

  abstract readonly mostAtOnce: number;

  async prepare(url: string, signal: AbortSignal): Promise<void> {
    const { hostname } = URL.parse(url) ?? { hostname: '' };
    if (hostname === '' || hostname.startsWith('[') || isIP(hostname) !== 0) return;
    const phaseMs = this.#lookupMs;
    const late = (): Error => new Error(`The look-up took longer than ${phaseMs} ms: ${hostname}`);
    await within({ signal, phaseMs }, this.guard.addressesOf(hostname), late).catch(() => {});
  }

  fetch(request: PageRequest): Promise<FetchedPage> {
    return this.#watch(request, (answer) => answer.page(request));
  }

  open(request: DocumentRequest): Promise<OpenDocument> {
    return this.#watch(request, async (answer) => answer.document());
  }

  get isNetworkAway(): boolean {
    return this.#network.isAway;
  }

  get isWithoutProxy(): boolean {
    return this.#proxies?.isResting === true;
  }

  get waitingForMemory(): number {
    return this.memory.waiting;
  }

  get bodyBytes(): number {
    return this.memory.usedBytes;
  }

  reserve(bytes: number): Promise<MemoryShare> {
    return this.memory.enter(bytes);
  }

  variantOf(url: string): string | undefined {
    return this.hostHeaders.variantOf(url);
  }

  async #watch<T>(request: PageRequest | DocumentRequest, read: (answer: Answer) => Promise<T>): Promise<T> {
    const host = hostIn(request.url);
    // Node.js would connect to the scheme's default port, which is another host for robots.txt and pace.
    if (host.endsWith(':0')) throw new FetchError('connection', `No server has the port 0: ${host}`);
    return await this.#network.watch(host, async () => {
      const answer = await this.ask(request, new RequestClock(request.timings));
      if (answer.setCookies.length > 0) request.onCookies?.(answer.setCookies);
      return await read(answer);
    });
  }
}

/** Returns the host and port of a URL as the frontier writes it, without parsing the whole URL. */
function hostIn(url: string): string {
  const start = url.indexOf('//') + 2;
  const end = url.indexOf('/', start);
  return url.slice(start, end < 0 ? undefined : end);
}
