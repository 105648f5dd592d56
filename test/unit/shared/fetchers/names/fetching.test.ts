import { expect, onTestFinished, test } from 'vitest';
import { GotFetcher } from '../../../../../shared/fetchers/got/fetcher.ts';
import { Rotation } from '../../../../../shared/fetchers/proxies/rotation.ts';
import { parseProxies } from '../../../../../shared/task/host/proxy-list.ts';
import { allowing } from '../../../../support/allowing.ts';
import type { Zone } from '../../../../support/listeners/dns-server.ts';
import { HttpProxy } from '../../../../support/proxies/http-proxy.ts';
import { TestSite } from '../../../../support/site.ts';
import { setup as setupNames } from './setup.ts';

/** A site, and fetchers that share look-ups of one name server. */
async function setup(zoneOf: (name: string) => Zone | undefined) {
  const world = await setupNames(zoneOf, { families: () => [4] });
  const site = new TestSite();
  await site.start();
  onTestFinished(() => site.stop());
  const open = (options: Partial<ConstructorParameters<typeof GotFetcher>[0]> = {}) => {
    const { resolve } = world.names;
    const fetcher = new GotFetcher({ timeoutMs: 5_000, userAgent: 'TrawlBot/0 (test)', resolve, ...options });
    onTestFinished(() => fetcher.stop());
    return (name: string, signal?: AbortSignal) =>
      fetcher.fetch({
        url: `http://${name}:${site.port}/page/1`,
        maxBodyBytes: 10_000,
        ...(signal === undefined ? {} : { signal }),
      });
  };
  return { ...world, site, open };
}

const here = allowing('127.0.0.1');

test('cached addresses are checked against the private hosts of each fetcher', async () => {
  const { open, server } = await setup(() => ({ addresses: ['127.0.0.1'] }));
  expect(await open({ allowedPrivate: here })('a.test')).toMatchObject({ status: 200 });
  await expect(open()('a.test')).rejects.toMatchObject({ reason: 'private_address' });
  expect(server.asked, 'kept').toEqual(['A a.test']);
});

test('a name that later resolves to a private address is refused from then on', async () => {
  let address = '127.0.0.1';
  const { open, clock } = await setup(() => ({ addresses: [address] }));
  expect(await open({ allowedPrivate: here })('a.test')).toMatchObject({ status: 200 });
  address = '10.0.0.1';
  expect(await open({ allowedPrivate: here })('a.test'), 'kept').toMatchObject({ status: 200 });
  clock.step(60_000);
  await expect(open({ allowedPrivate: here })('a.test')).rejects.toMatchObject({ reason: 'private_address' });
});

test('a request that gives up during a look-up ends at once, and the others still get the answer', async () => {
  const answer = Promise.withResolvers<void>();
  const { open } = await setup(() => ({ addresses: ['127.0.0.1'], held: answer.promise }));
  const fetch = open({ allowedPrivate: here });
  const abort = new AbortController();
  const [aborted, late, other] = [
    fetch('a.test', abort.signal),
    open({ allowedPrivate: here, timeoutMs: 200 })('a.test'),
    fetch('a.test'),
  ];
  abort.abort();
  await expect(aborted).rejects.toMatchObject({ reason: 'aborted' });
  await expect(late).rejects.toMatchObject({ reason: 'timeout' });
  answer.resolve();
  expect(await other).toMatchObject({ status: 200 });
});

test('an unknown name fails with nxdomain, a failing name server with dns', async () => {
  const { open } = await setup((name) => (name === 'broken.test' ? { says: 'SERVFAIL' } : undefined));
  await expect(open()('a.test')).rejects.toMatchObject({ reason: 'nxdomain' });
  await expect(open()('broken.test')).rejects.toMatchObject({ reason: 'dns' });
});

test("a proxy's own name is looked up in the same way, but may be private", async () => {
  const { open, names, clock, server } = await setup(() => ({ addresses: ['127.0.0.1'] }));
  const proxy = new HttpProxy();
  await proxy.start();
  onTestFinished(() => proxy.stop());
  const read = parseProxies([`http://proxy.test:${proxy.port}`]);
  if ('problems' in read) throw new Error(read.problems.join());
  const proxies = new Rotation({ proxies: read, lookup: names.lookup, clock });
  expect(await open({ allowedPrivate: here, proxies })('127.0.0.1')).toMatchObject({ status: 200 });
  expect(server.asked).toEqual(['A proxy.test']);
});
