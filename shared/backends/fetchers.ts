import type { LookupFunction } from 'node:net';
import { BodyMemory } from '../fetchers/body-memory.ts';
import type { BodyBudget, Fetcher } from '../ports/fetcher.ts';
import { systemClock } from '../runtime/clock.ts';
import { bodyMemoryOf, memoryLimit } from '../runtime/limits.ts';
import type { Logger } from '../runtime/logger.ts';
import { userAgentOf } from '../settings/settings.ts';
import type { Settings } from '../settings/table.ts';
import type { HostHeaders } from '../task/host/host-headers.ts';
import type { ProxyAddress } from '../task/host/proxy-list.ts';
import { openNames } from './names.ts';

const TRY_PROXY_MS = 5_000;

interface FetcherOptions {
  readonly settings: Settings;
  readonly version: string;
  readonly hostHeaders: HostHeaders;
  readonly log: Logger;
}

/** Opens the fetcher, with the deployment's limits, its address guard, and this process' own rotation of proxies. */
export async function openFetcher({
  settings,
  version,
  hostHeaders,
  log,
}: FetcherOptions): Promise<Fetcher & BodyBudget> {
  const NamedFetcher =
    settings.fetcher === 'undici'
      ? (await import('../fetchers/undici/fetcher.ts')).UndiciFetcher
      : (await import('../fetchers/got/fetcher.ts')).GotFetcher;
  const names = await openNames(settings);
  return new NamedFetcher({
    resolve: names.resolve,
    timeoutMs: settings.fetchTimeout,
    userAgent: userAgentOf(settings, version),
    allowedPrivate: settings.privateHosts,
    hostHeaders,
    trust: { authorities: settings.caFile, unchecked: settings.insecure },
    bodyMemory: new BodyMemory(Math.min(settings.bodyMemory, bodyMemoryOf(memoryLimit()))),
    ...(settings.proxies.length === 0 ? {} : { proxies: await openRotation(settings.proxies, names.lookup, log) }),
  });
}

async function openRotation(
  proxies: readonly ProxyAddress[],
  lookup: LookupFunction,
  log: Logger,
): Promise<import('../fetchers/proxies/rotation.ts').Rotation> {
  const { Rotation } = await import('../fetchers/proxies/rotation.ts');
  const onRest = (_: ProxyAddress, error: string, restMs: number): void =>
    log.warn({ error, seconds: restMs / 1_000 }, 'a proxy rests:');
  return new Rotation({ proxies, lookup, clock: systemClock, onRest });
}

/** Connects to a proxy, and disconnects again. Rejects with the problem if there is one. */
export async function tryProxy(proxy: ProxyAddress): Promise<void> {
  const { connectToProxy } = await import('../fetchers/proxies/tunnel.ts');
  const socket = await connectToProxy(proxy, { signal: new AbortController().signal, phaseMs: TRY_PROXY_MS });
  socket.destroy();
}
