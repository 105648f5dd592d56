import { createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { LoopbackServer } from '../../support/listeners/loopback-server.ts';
import { openDnsServer } from '../../support/listeners/opened-dns-server.ts';
import { openWorkplace } from '../../support/processes/trawl.ts';
import { freePort } from '../../support/servers/machine.ts';
import { TestSite } from '../../support/site.ts';

const LOCAL = ['--private-hosts', '127.0.0.0/8', '--rate', '600/min', '--run', 'mine'];

async function openSite(options: ConstructorParameters<typeof TestSite>[0] = {}): Promise<TestSite> {
  const site = new TestSite(options);
  await site.start();
  onTestFinished(() => site.stop());
  return site;
}

/** Sites that accept requests and give no answer, until they are mended. */
async function openMuteSites(count: number): Promise<{ readonly sites: readonly TestSite[]; mend(): void }> {
  const sites = await Promise.all(Array.from({ length: count }, () => openSite()));
  for (const site of sites) site.on('/robots.txt', () => {});
  const mend = (): void => {
    for (const site of sites) site.on('/robots.txt', (_, response) => response.writeHead(404).end());
  };
  return { sites, mend };
}

function pagesOf(origin: string, count: number): string[] {
  return Array.from({ length: count }, (_, n) => `${origin}/page/${n + 1}`);
}

test('hosts that never answer are given up after a minute of tries, and named with the reason', {
  timeout: 200_000,
}, async () => {
  const workplace = await openWorkplace();
  const [good, tls, names] = await Promise.all([openSite(), openSite({ tls: true }), openDnsServer({})]);
  let tries = 0;
  const mute = new LoopbackServer(
    createServer((socket) => {
      tries++;
      mute.keep(socket);
    }),
  );
  await mute.listen();
  onTestFinished(() => mute.stop());
  const refused = `http://127.0.0.1:${await freePort()}`;
  const silent = `http://127.0.0.1:${mute.port}`;
  const bad = [refused, silent, 'http://nobody.test', tls.origin];
  const list = [...pagesOf(good.origin, 5), ...bad.flatMap((origin) => pagesOf(origin, 20))].join('\n');
  const crawl = ['crawl', '-', ...LOCAL, '--fetch-timeout', '5s', '--dns-servers', names.address];
  const summary = await workplace.json(crawl, list);
  expect(summary).toMatchObject({ state: 'finished', done: 5, failed: 80, waiting: 0 });
  const named = summary.hostsDown.named.map(({ host, kind, reason }: Record<string, string>) => [host, kind, reason]);
  expect(new Map(named.map(([host, ...why]: string[]) => [host, why]))).toEqual(
    new Map([
      [new URL(refused).host, ['silent', 'connection refused']],
      [new URL(silent).host, ['silent', 'time-outs']],
      ['nobody.test', ['silent', 'no such name']],
      [tls.host, ['silent', 'failed TLS handshakes']],
    ]),
  );
  expect(tries, 'tries of the host that never answers').toBeGreaterThanOrEqual(3);
  expect(summary.seconds, 'far from --host-give-up').toBeLessThan(300);
  const { stdout } = await workplace.run(['status', 'mine', '--local']);
  expect(stdout).toMatch(/^4 hosts were given up: .*\(never answered: connection refused\)/m);
});

test('while none of several hosts answers, the crawl waits because the network may be down, and says so', {
  timeout: 120_000,
}, async () => {
  const workplace = await openWorkplace();
  const { sites, mend } = await openMuteSites(4);
  const list = sites.flatMap(({ origin }) => pagesOf(origin, 3)).join('\n');
  const crawl = workplace.start(['crawl', '-', ...LOCAL, '--fetch-timeout', '1s'], list);
  const status = async () => JSON.parse((await workplace.run(['status', 'mine', '--local', '--json'])).stdout);
  await crawl.says(/is under way/);
  await expect
    .poll(async () => (await status()).bottleneck)
    .toMatch(/^no host answers, so the network may be down; giving up at .*\d\d:\d\d \(--host-give-up\)$/);
  mend();
  const { code } = await crawl.ended;
  expect(code).toBe(0);
  const records = await workplace.records('mine');
  expect(records.map(({ outcome, attempt }) => [outcome, attempt])).toEqual(Array(12).fill(['done', 1]));
  expect(await status()).toMatchObject({ done: 12, failed: 0, hostsDown: { count: 0 } });
});

test('a crawl whose hosts all stay silent ends at --host-give-up, and its summary says why', {
  timeout: 120_000,
}, async () => {
  const workplace = await openWorkplace();
  const { sites } = await openMuteSites(3);
  const list = sites.flatMap(({ origin }) => pagesOf(origin, 2)).join('\n');
  const crawl = ['crawl', '-', ...LOCAL, '--fetch-timeout', '1s', '--host-give-up', '25s'];
  const { code, stdout } = await workplace.run(crawl, list);
  expect(code, 'nothing was fetched').toBe(1);
  expect(stdout).toMatch(/^ +6 failed: host_down 6$/m);
  expect(stdout).toMatch(
    /^3 hosts were given up: .*\(no answer, nor from any other: the network may have been down\)/m,
  );
});

test('a host whose robots.txt answers 503 is waited for until --host-give-up, and status says so', {
  timeout: 120_000,
}, async () => {
  const workplace = await openWorkplace();
  const [good, bad] = await Promise.all([openSite(), openSite()]);
  bad.on('/robots.txt', (_, response) => response.writeHead(503).end());
  const list = [...pagesOf(good.origin, 5), ...pagesOf(bad.origin, 5)].join('\n');
  const crawl = workplace.start(['crawl', '-', ...LOCAL, '--host-give-up', '20s'], list);
  await crawl.says(/is under way/);
  const bottleneck = async () =>
    JSON.parse((await workplace.run(['status', 'mine', '--local', '--json'])).stdout).bottleneck;
  const sentence = `waiting for ${bad.host}: robots.txt 503; giving up at`.replaceAll('.', '\\.');
  await expect.poll(bottleneck).toMatch(new RegExp(`^${sentence} .*\\d\\d:\\d\\d \\(--host-give-up\\)$`));
  const { code, stdout } = await crawl.ended;
  expect(code).toBe(0);
  expect(stdout).toContain(`1 host was given up: ${bad.host} (robots.txt 503).`);
});

test('a crawl and a trial that reach nothing name a proxy of the environment, which they did not read', async () => {
  const workplace = await openWorkplace({ HTTPS_PROXY: 'http://user:secret@proxy.test:3128' });
  const [good, names] = await Promise.all([openSite(), openDnsServer({})]);
  const hint = `HTTPS_PROXY is set, but Trawl doesn't read it. If this network needs that proxy: --proxy-url "$HTTPS_PROXY"\n`;
  const lost = ['http://nobody.test/page/1', '--dns-servers', names.address, '--max-attempts', '1'];
  const crawled = await workplace.run(['crawl', ...lost, ...LOCAL]);
  expect(crawled).toMatchObject({ code: 1, stdout: expect.stringContaining(hint) });
  const tried = await workplace.run(['try', ...lost]);
  const refused = await workplace.run(['try', `http://127.0.0.1:${await freePort()}/`, ...LOCAL.slice(0, 2)]);
  for (const each of [tried, refused]) expect(each).toMatchObject({ code: 1, stderr: expect.stringContaining(hint) });
  const reached = await workplace.run(['crawl', good.url('/page/1'), good.url('/status/404'), ...LOCAL.slice(0, 4)]);
  expect(reached.code).toBe(0);
  for (const { stdout, stderr } of [crawled, tried, reached]) expect(stdout + stderr).not.toContain('secret');
  expect(reached.stdout).not.toContain('HTTPS_PROXY');
});
