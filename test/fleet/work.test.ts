import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { AT_FULL_SPEED } from '../support/full-speed.ts';
import { allPages, type Fleet, openFleet, pagesFetched } from '../support/processes/fleet.ts';
import type { Trawl } from '../support/processes/trawl.ts';
import { TcpProxy } from '../support/proxies/tcp-proxy.ts';

const FOUR_AT_ONCE = [...AT_FULL_SPEED, '--worker-concurrency', '4', '--log-format', 'pretty'];

/** A fleet with one worker, whose connection to Redis can be cut. */
async function setup(pages: number): Promise<Fleet & { worker: Trawl; proxy: TcpProxy; produced: Promise<unknown> }> {
  const fleet = await openFleet({ pages });
  const { workplace, site } = fleet;
  const { hostname, port } = new URL(inject('redisUrl'));
  const proxy = new TcpProxy({ host: hostname, port: Number(port || 6379) });
  await proxy.start();
  onTestFinished(() => proxy.stop());
  for (const path of allPages(pages)) {
    site.on(path, (_, response) => void setTimeout(() => response.end('<title>slow</title>'), 20));
  }
  const worker = workplace.start(['work', '--redis-url', `redis://127.0.0.1:${proxy.port}`, ...FOUR_AT_ONCE]);
  await worker.says(/INFO: consuming/);
  const produced = workplace.json(['produce', site.url('/sitemap.xml'), '--wait', ...AT_FULL_SPEED]);
  return { ...fleet, worker, proxy, produced };
}

describe('a worker that loses Redis', () => {
  test('stops consuming, resumes when Redis is back, and loses nothing', async () => {
    const { worker, proxy, produced, site } = await setup(150);
    await site.arrival('/page/30');
    proxy.close();
    await worker.says(/connection lost, trying again: Redis/);
    await worker.says(/not consuming why=Redis/);
    const asked = site.requests.length;
    proxy.open();
    await worker.says(/connected again after .*: Redis/);
    expect(await produced).toMatchObject({ state: 'finished', discovered: 150, done: 150, failed: 0, records: 150 });
    expect(new Set(pagesFetched(site))).toEqual(new Set(allPages(150)));
    expect(asked, 'it held nothing meanwhile').toBeLessThan(150);
    worker.signal('SIGTERM');
    expect((await worker.ended).code).toBe(0);
  });

  test('can still be stopped, and its unfinished tasks go back', async () => {
    const { worker, proxy, site, workplace, produced } = await setup(60);
    await site.arrival('/page/20');
    proxy.close();
    await worker.says(/not consuming why=Redis/);
    worker.signal('SIGINT');
    const { code, stderr } = await worker.ended;
    expect([code, stderr.includes('Stopped at once.')]).toEqual([130, true]);
    workplace.start(['work', ...FOUR_AT_ONCE]);
    // A lease being taken at that moment lapses after a minute; all other tasks come back with their deliveries.
    expect(await produced).toMatchObject({ state: 'finished', discovered: 60, done: 60, failed: 0 });
  }, 120_000);
});
