import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { AT_FULL_SPEED } from '../../support/full-speed.ts';
import { openFleet } from '../../support/processes/fleet.ts';
import { openWorkplace, type Workplace } from '../../support/processes/trawl.ts';
import { TestSite } from '../../support/site.ts';
import { textsInRedis } from '../../support/stores/redis-texts.ts';

const TOKEN = 'Bearer open-sesame';

/** Serves a page whose title says whether the request had the token. */
function guard(site: TestSite): void {
  site.on('/page/1', ({ headers }, response) => {
    const isKnown = headers.authorization === TOKEN;
    response.writeHead(200, { 'content-type': 'text/html' });
    response.end(`<title>${isKnown ? 'for you alone' : 'for everybody'}</title>`);
  });
}

async function writeHeaders(workplace: Workplace, headers: unknown): Promise<string> {
  const file = join(workplace.folder, 'headers.json');
  await writeFile(file, typeof headers === 'string' ? headers : JSON.stringify(headers));
  return file;
}

test('pages, robots.txt and sitemaps of a host are requested with its headers, and other hosts without', async () => {
  const [site, other] = [new TestSite({ pages: 5 }), new TestSite({ pages: 5 })];
  for (const each of [site, other]) {
    await each.start();
    onTestFinished(() => each.stop());
  }
  const workplace = await openWorkplace();
  const file = await writeHeaders(workplace, { [site.host]: { authorization: TOKEN, cookie: 'a=b' } });
  const args = ['crawl', site.url('/'), other.url('/'), '--host-headers', file, '--log-level', 'debug', '--json'];
  const { code, stdout, stderr } = await workplace.start([...args, ...AT_FULL_SPEED]).ended;
  expect([code, JSON.parse(stdout)]).toMatchObject([0, { done: 10 }]);
  expect([site.count('/robots.txt'), site.count('/sitemap.xml')]).toEqual([1, 1]);
  for (const { headers } of site.requests) expect(headers).toMatchObject({ authorization: TOKEN, cookie: 'a=b' });
  for (const { headers } of other.requests) {
    expect([headers.authorization, headers.cookie]).toEqual([undefined, undefined]);
  }
  expect(stdout + stderr).not.toContain('sesame');
});

// A dozen processes start, each taking a second or two of CPU time: on a busy machine that alone takes a minute.
const CACHE_TEST = { timeout: 120_000 };
test('workers with and without the headers of a host never share its cached pages', CACHE_TEST, async () => {
  const { workplace, site, redis, keyPrefix } = await openFleet();
  guard(site);
  const file = await writeHeaders(workplace, { [site.host]: { authorization: TOKEN } });
  const crawl = async (run: string, ...flags: string[]): Promise<void> => {
    const worker = workplace.start(['work', ...flags, ...AT_FULL_SPEED]);
    await workplace.json(['produce', site.url('/page/1'), '--run', run, '--fresh', '--wait', ...AT_FULL_SPEED]);
    worker.signal('SIGTERM');
    await worker.ended;
  };
  const titleOf = async (run: string): Promise<[string, boolean]> => {
    const [{ title, fromCache }] = await workplace.records(run);
    return [title, fromCache];
  };
  const withHeaders = ['--host-headers', file];
  await crawl('a', ...withHeaders);
  await crawl('b');
  await crawl('c', ...withHeaders);
  await crawl('d');
  expect(await Promise.all(['a', 'b', 'c', 'd'].map(titleOf))).toEqual([
    ['for you alone', false],
    ['for everybody', false],
    ['for you alone', true],
    ['for everybody', true],
  ]);
  const keys = (await redis.keys(`${keyPrefix}content:*`)).map((key) => key.slice(`${keyPrefix}content:`.length));
  expect(keys.sort()).toEqual([site.url('/page/1'), expect.stringMatching(/\/page\/1#[0-9a-f]{16}$/)]);
  expect(await textsInRedis(redis, keyPrefix)).not.toContain('sesame');
});

// biome-ignore format: a table
test.each([
  [{ 'a.test': { Host: 'sesame' } },         '"a.test", header "Host": can\'t be set'],
  [{ 'a.test': { cookie: 'sesame\n' } },     '"a.test", header "cookie": expected its value to be a text of one line'],
  ['{"a.test": {"cookie": "sesame"',         'is not JSON'],
])('a mistake in a headers file exits with 78 and names the file, the host and the header: %j', async (headers, said) => {
  const workplace = await openWorkplace();
  const file = await writeHeaders(workplace, headers);
  for (const command of [['crawl', 'http://127.0.0.1:9/'], ['work'], ['produce', 'http://127.0.0.1:9/']]) {
    const { code, stdout, stderr } = await workplace.run([...command, '--host-headers', file]);
    expect([code, stderr]).toEqual([78, expect.stringContaining(`HOST_HEADERS: ${file}`)]);
    expect(stderr).toContain(said);
    expect(stdout + stderr).not.toContain('sesame');
  }
  const { code, stderr } = await workplace.run(['crawl', 'http://127.0.0.1:9/', '--host-headers', 'missing.json']);
  expect([code, stderr]).toEqual([78, expect.stringContaining("HOST_HEADERS: missing.json can't be read")]);
});
