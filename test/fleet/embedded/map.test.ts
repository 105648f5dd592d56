import { expect, onTestFinished, test } from 'vitest';
import { openWorkplace, type Workplace } from '../../support/processes/trawl.ts';
import { TestSite } from '../../support/site.ts';

const LOCAL = ['--private-hosts', '127.0.0.0/8', '--rate', 'none'];

/** A site with a home page and two sitemaps, and a folder to run commands in. */
async function setup(): Promise<{ site: TestSite; workplace: Workplace }> {
  const site = new TestSite();
  await site.start();
  onTestFinished(() => site.stop());
  const answer = (path: string, type: string, body: () => string): void =>
    void site.on(path, (_, response) => response.writeHead(200, { 'content-type': type }).end(body()));
  answer('/robots.txt', 'text/plain', () => 'User-agent: *\nDisallow: /private\nSitemap: /index.xml\n');
  answer(
    '/index.xml',
    'application/xml',
    () => '<sitemapindex><sitemap><loc>/a.xml</loc></sitemap><sitemap><loc>/b.xml</loc></sitemap></sitemapindex>',
  );
  answer(
    '/a.xml',
    'application/xml',
    () => '<urlset><url><loc>/blog/1</loc><lastmod>2026-01-02</lastmod></url><url><loc>/</loc></url></urlset>',
  );
  answer(
    '/b.xml',
    'application/xml',
    () => '<urlset><url><loc>/shop/1</loc></url><url><loc>no url</loc></url></urlset>',
  );
  answer(
    '/',
    'text/html',
    () => '<a href="/shop/1">1</a><a href="/blog/2">2</a><a href="https://other.test/">other</a>',
  );
  return { site, workplace: await openWorkplace() };
}

const paths = (stdout: string): string[] =>
  stdout
    .trim()
    .split('\n')
    .map((line) => new URL(line).pathname);

test('prints what sitemaps and the page of a site name, each URL once, and requests nothing else', async () => {
  const { site, workplace } = await setup();
  const { code, stdout, stderr } = await workplace.run(['map', site.url('/'), ...LOCAL]);
  expect({ code, paths: paths(stdout) }).toEqual({ code: 0, paths: ['/blog/1', '/shop/1', '/', '/blog/2'] });
  expect(stderr).toContain('"what":"1 location","msg":"left out, since they are not URLs:"');
  const asked = new Set(site.requests.map(({ path }) => path));
  expect([...asked].toSorted()).toEqual(['/', '/a.xml', '/b.xml', '/index.xml', '/robots.txt']);
  expect((await workplace.run(['status'])).stdout).not.toContain('map');
});

test('prints JSON with the lastmod of each URL, only what patterns allow, and says what they leave out', async () => {
  const { site, workplace } = await setup();
  const flags = ['--include', '/blog/*', '--json', ...LOCAL];
  const { stdout, stderr } = await workplace.run(['map', site.url('/robots.txt'), site.url('/'), ...flags]);
  expect(
    stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line)),
  ).toEqual([
    { url: site.url('/blog/1'), lastmod: '2026-01-02' },
    { url: site.url('/'), lastmod: null },
    { url: site.url('/blog/2'), lastmod: null },
  ]);
  expect(stderr).toContain('"what":"2 pages","msg":"left out of sitemaps by --include and --exclude:"');
});

test('stops after --limit URLs, and reads no further sitemap', async () => {
  const { site, workplace } = await setup();
  const { code, stdout, stderr } = await workplace.run(['map', site.url('/'), '--limit', '1', ...LOCAL]);
  expect({ code, paths: paths(stdout), later: site.count('/b.xml') }).toEqual({
    code: 0,
    paths: ['/blog/1'],
    later: 0,
  });
  expect(stderr).toContain('stopped after 1 URLs (--limit); there may be more');
  const wrong = await workplace.run(['map', site.url('/'), '--limit', '2000000', ...LOCAL]);
  expect(wrong.code).toBe(2);
  expect(wrong.stderr).toContain('expected --limit to be a number of URLs, from 1 to 1 000 000, got "2000000"');
});

test('a page that robots.txt disallows is not fetched and not listed; without any URL the exit code is 1', async () => {
  const { site, workplace } = await setup();
  const { code, stdout, stderr } = await workplace.run(['map', site.url('/private/1'), ...LOCAL]);
  expect({ code, stdout, asked: site.count('/private/1') }).toEqual({ code: 1, stdout: '', asked: 0 });
  expect(stderr).toContain(`"what":"${site.url('/private/1')}","error":"robots: `);
  expect(stderr).toContain('no URLs found');
});

test('--follow is answered with what a map does', async () => {
  const { site, workplace } = await setup();
  const { code, stderr } = await workplace.run(['map', site.url('/'), '--follow']);
  expect(code).toBe(2);
  expect(stderr).toContain('A map lists what sitemaps and the given page name');
});
