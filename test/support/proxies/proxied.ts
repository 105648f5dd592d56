import { onTestFinished } from 'vitest';
import { Rotation } from '../../../shared/fetchers/proxies/rotation.ts';
import { parsePrivateHosts } from '../../../shared/task/host/private-address.ts';
import { parseProxies } from '../../../shared/task/host/proxy-list.ts';
import { openLane } from '../lane.ts';
import { SteppedClock } from '../stores/stepped-clock.ts';
import { HttpProxy } from './http-proxy.ts';

/** Opens a fetcher through proxies that are all down until a test revives them and steps the clock. */
export async function openProxied(count: number) {
  const proxies = Array.from({ length: count }, () => new HttpProxy());
  for (const proxy of proxies) await proxy.start();
  const parsed = parseProxies(proxies.map(({ url }) => url));
  const allowedPrivate = parsePrivateHosts(['127.0.0.0/8']);
  if ('problems' in parsed || 'problems' in allowedPrivate) throw new Error('expected proxies and ranges');
  const ports = proxies.map(({ port }) => port);
  for (const proxy of proxies) await proxy.stop();
  const clock = new SteppedClock();
  const fetcher = openLane({
    timeoutMs: 5_000,
    userAgent: 'TrawlBot/0 (test)',
    allowedPrivate,
    proxies: new Rotation({ proxies: parsed, clock }),
  });
  onTestFinished(async () => {
    await fetcher.stop();
    for (const proxy of proxies) await proxy.stop();
  });
  return {
    fetcher,
    proxies,
    /** The clock of the proxies' rests. */
    clock,
    /** Starts all proxies again. */
    async revive(): Promise<void> {
      for (const [index, proxy] of proxies.entries()) await proxy.start(ports[index]);
    },
  };
}
