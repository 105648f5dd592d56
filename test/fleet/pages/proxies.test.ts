import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { AT_FULL_SPEED } from '../../support/full-speed.ts';
import { allPages, openFleet, pagesFetched } from '../../support/processes/fleet.ts';
import { openWorkplace } from '../../support/processes/trawl.ts';
import { HttpProxy } from '../../support/proxies/http-proxy.ts';
import { SocksProxy } from '../../support/proxies/socks-proxy.ts';
import { TestSite } from '../../support/site.ts';

const LOGIN = 'jo:sesame';
const AS_BASIC = Buffer.from(LOGIN).toString('base64');

async function openProxies(): Promise<readonly [HttpProxy, SocksProxy, string]> {
  const [http, socks, gone] = [new HttpProxy({ login: LOGIN }), new SocksProxy(LOGIN), new HttpProxy({ login: LOGIN })];
  for (const proxy of [http, socks, gone]) await proxy.start();
  const dead = gone.url;
  await gone.stop();
  onTestFinished(async () => {
    await http.stop();
    await socks.stop();
  });
  return [http, socks, dead];
}

test('a crawl through proxies, one of them dead, fetches each page once and shows no login', async () => {
  const [http, socks, dead] = await openProxies();
  const site = new TestSite({ pages: 40 });
  await site.start();
  onTestFinished(() => site.stop());
  const workplace = await openWorkplace({ PROXY_URL: [http.url, dead, socks.url].join(',') });
  const crawl = workplace.start([
    'crawl',
    site.url('/'),
    '--json',
    '--run',
    'far',
    '--log-level',
    'debug',
    ...AT_FULL_SPEED,
  ]);
  const { code, stdout, stderr } = await crawl.ended;
  expect([code, JSON.parse(stdout)]).toMatchObject([0, { state: 'finished', done: 40, failed: 0, records: 40 }]);
  expect(pagesFetched(site).sort()).toEqual(allPages(40).sort());
  // robots.txt and the sitemap also go through the proxies.
  expect(http.asked.length).toBeGreaterThan(5);
  expect(site.requests.length - http.asked.length).toBeGreaterThan(5);
  expect(stderr).toContain(`a proxy rests:`);
  const folder = join(workplace.folder, 'output/far');
  const files = await Promise.all((await readdir(folder)).map((name) => readFile(join(folder, name), 'utf8')));
  const told = [stdout, stderr, ...files, JSON.stringify(site.requests)].join('\n');
  for (const secret of ['sesame', AS_BASIC]) expect(told).not.toContain(secret);
});

test('a private address is skipped without a request to the proxy', async () => {
  const [http] = await openProxies();
  const workplace = await openWorkplace({ PROXY_URL: http.url });
  const { code, stdout } = await workplace.run(['crawl', 'http://127.0.0.1:9/page', '--robots', 'ignore', '--json']);
  expect(JSON.parse(stdout)).toMatchObject({ skipped: 1, reasons: { skipped: { private_address: 1 } } });
  expect(code, 'that was everything').toBe(1);
  expect(http.asked).toEqual([]);
});

test('a fleet crawls through proxies, and doctor says which of them answer', async () => {
  const [http, socks, dead] = await openProxies();
  const proxies = { PROXY_URL: [http.url, socks.url, dead].join(',') };
  const { workplace, site } = await openFleet({ pages: 30 }, { ...proxies, CONTACT_URL: 'https://a.test/' });
  const worker = workplace.start(['work', '--exit-when-idle', ...AT_FULL_SPEED]);
  const summary = await workplace.json(['produce', site.url('/'), '--wait', ...AT_FULL_SPEED]);
  expect(summary).toMatchObject({ state: 'finished', done: 30, failed: 0 });
  expect(pagesFetched(site).length).toBe(30);
  expect((await worker.ended).code).toBe(0);
  const { code, stdout } = await workplace.run(['doctor']);
  const lines = stdout.split('\n').filter((line) => line.includes('proxy'));
  expect(lines).toEqual([
    `ok       proxy http://127.0.0.1:${http.port}: can be connected to`,
    `ok       proxy socks5://127.0.0.1:${socks.port}: can be connected to`,
    expect.stringMatching(
      /^warning {2}proxy http:\/\/127\.0\.0\.1:\d+: http:\S+ can't be connected to: connect ECONNREFUSED/,
    ),
  ]);
  expect([code, stdout.includes('sesame')]).toEqual([0, false]);
  await http.stop();
  await socks.stop();
  const all = await workplace.run(['doctor']);
  expect([all.code, all.stdout.match(/^problem {2}proxy/gm)?.length]).toEqual([1, 3]);
});
