import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { AT_FULL_SPEED } from '../../support/full-speed.ts';
import { openDnsServer } from '../../support/listeners/opened-dns-server.ts';
import { openWorkplace, type Workplace } from '../../support/processes/trawl.ts';
import { TestSite, type TestSiteOptions } from '../../support/site.ts';

async function setup(options: TestSiteOptions = {}): Promise<{ site: TestSite; workplace: Workplace }> {
  const site = new TestSite(options);
  await site.start();
  onTestFinished(() => site.stop());
  return { site, workplace: await openWorkplace() };
}

describe('trawl crawl', () => {
  test('given a site, finds its sitemap through robots.txt, and fetches and records each page once', async () => {
    const { site, workplace } = await setup({ pages: 300 });
    const summary = await workplace.json(['crawl', site.url('/'), ...AT_FULL_SPEED]);
    expect(summary).toMatchObject({
      state: 'finished',
      discovered: 300,
      done: 300,
      failed: 0,
      duplicate: 0,
      records: 300,
    });
    expect(site.requests.filter(({ path }) => path.startsWith('/page/')).length).toBe(300);
    expect((await workplace.records(summary.run)).length).toBe(300);
  });

  test('host names are looked up at the servers of --dns-servers', async () => {
    const { site, workplace } = await setup();
    const names = await openDnsServer((name) => (name === 'gone.test' ? undefined : { addresses: ['127.0.0.1'] }));
    const urls = ['a.test', 'b.test', 'gone.test'].map((name) => `http://${name}:${site.port}/page/1`);
    const summary = await workplace.json(['crawl', ...urls, '--dns-servers', names.address, ...AT_FULL_SPEED]);
    expect(summary).toMatchObject({ done: 2, failed: 1, reasons: { failed: { dns: 1 } } });
    expect(names.asked).toEqual(expect.arrayContaining(['A a.test', 'A b.test', 'A gone.test']));
  });

  test('hosts whose name look-up takes five seconds are crawled like the others', async () => {
    const { site, workplace } = await setup();
    const names = await openDnsServer((name) => ({
      addresses: ['127.0.0.1'],
      delayMs: name.startsWith('slow') ? 5_000 : 5,
    }));
    const hosts = Array.from({ length: 60 }, (_, n) => `${n % 3 === 0 ? 'slow' : 'quick'}-${n}.test`);
    const urls = hosts.map((host) => `http://${host}:${site.port}/page/1`);
    const summary = await workplace.json(['crawl', ...urls, '--dns-servers', names.address, ...AT_FULL_SPEED]);
    expect(summary).toMatchObject({ done: 60, failed: 0, skipped: 0 });
  });

  test('--follow follows links on the same host down to --max-depth', async () => {
    const { site, workplace } = await setup({ pages: 50, linksPerPage: 1 });
    const follow = ['--follow', ...AT_FULL_SPEED];
    expect(await workplace.json(['crawl', site.url('/page/1'), ...follow])).toMatchObject({ done: 4, duplicate: 0 });
    expect(await workplace.json(['crawl', site.url('/page/1'), '--max-depth', '10', ...follow])).toMatchObject({
      done: 11,
    });
    expect(await workplace.json(['crawl', site.url('/page/1'), ...AT_FULL_SPEED])).toMatchObject({ done: 1 });
  });

  test('links to other hosts are not followed', async () => {
    const { site, workplace } = await setup();
    const other = new TestSite();
    await other.start();
    onTestFinished(() => other.stop());
    site.on('/page/1', (_, response) => {
      response
        .setHeader('content-type', 'text/html')
        .end(`<a href="${other.url('/page/1')}">there</a> <a href="/page/2">here</a>`);
    });
    const summary = await workplace.json([
      'crawl',
      site.url('/page/1'),
      '--follow',
      '--max-depth',
      '1',
      ...AT_FULL_SPEED,
    ]);
    expect(summary).toMatchObject({ discovered: 2, done: 2 });
    expect(other.requests).toEqual([]);
  });

  test('a host that answers 429 gets no request until its Retry-After has passed, at no attempt', async () => {
    const { site, workplace } = await setup();
    let asked = 0;
    site.on('/busy', (_, response) => {
      asked++;
      if (asked === 1) response.writeHead(429, { 'retry-after': '1' }).end();
      else response.setHeader('content-type', 'text/html').end('<title>ok</title>');
    });
    const urls = ['/busy', '/page/1', '/page/2'].map((path) => site.url(path)).join('\n');
    const flags = [...AT_FULL_SPEED, '--worker-concurrency', '1', '--max-attempts', '1'];
    const summary = await workplace.json(['crawl', '-', ...flags], urls);
    expect(summary).toMatchObject({ done: 3, failed: 0 });
    const [first, ...others] = site.requests;
    for (const { at } of others) expect(at - (first?.at ?? 0)).toBeGreaterThanOrEqual(1_000);
    expect((await workplace.records(summary.run)).map(({ attempt }) => attempt)).toEqual([1, 1, 1]);
  });

  test('private addresses are skipped unless --private-hosts allows them', async () => {
    const { site, workplace } = await setup();
    const seeds = [site.url('/page/1'), site.url('/page/2')];
    const { code, stdout, stderr } = await workplace.run(['crawl', ...seeds, '--rate', 'none', '--json']);
    expect([code, JSON.parse(stdout)]).toMatchObject([1, { skipped: 2, reasons: { skipped: { private_address: 2 } } }]);
    expect(stderr.match(/127\.0\.0\.1 is a private address \(--private-hosts 127\.0\.0\.1 allows it\)/g)).toHaveLength(
      1,
    );
    expect(site.requests).toEqual([]);
  });

  test('a body over --max-body is skipped, and a truncated one is retried and given up', async () => {
    const { site, workplace } = await setup();
    const urls = [site.url('/big?bytes=200000'), site.url('/truncated')].join('\n');
    const summary = await workplace.json(
      ['crawl', '-', '--max-body', '100KiB', '--max-attempts', '2', ...AT_FULL_SPEED],
      urls,
    );
    expect(summary.reasons).toEqual({ failed: { connection: 1 }, skipped: { size: 1 } });
    expect(site.count('/truncated')).toBe(2);
  });

  test('a page is fetched once, however many spellings of its URL are given', async () => {
    const { site, workplace } = await setup();
    const urls = ['/page/1', '/page/%31', '/page/1#top', '/./page/1'].map((path) => site.url(path)).join('\n');
    expect(await workplace.json(['crawl', '-', ...AT_FULL_SPEED], urls)).toMatchObject({
      discovered: 1,
      duplicate: 3,
      done: 1,
    });
  });

  test('--content text keeps the text of a page, and records prints it as CSV or into a file', async () => {
    const { site, workplace } = await setup();
    const run = ['crawl', site.url('/page/1'), '--run', 'kept', '--content', 'text', ...AT_FULL_SPEED];
    await workplace.json(run);
    const [record] = await workplace.records('kept');
    expect(record.content).toContain('Lorem ipsum.');
    expect(record.content).not.toContain('<');
    const { stdout } = await workplace.run(['records', 'kept', '--format', 'csv']);
    const [header, line] = stdout.split('\r\n');
    expect(header?.split(',').slice(0, 5)).toEqual(['url', 'finalUrl', 'outcome', 'reason', 'status']);
    expect(line?.startsWith(`${site.url('/page/1')},${site.url('/page/1')},done,,200,Page 1`)).toBe(true);
    const toFile = await workplace.run(['records', 'kept', '-o', 'out.jsonl']);
    expect([toFile.stdout, toFile.stderr]).toEqual(['', '1 record written to out.jsonl\n']);
  });

  test('after Ctrl-C a crawl ends cleanly, with a record for every page that is done', async () => {
    const { site, workplace } = await setup({ pages: 200 });
    const flags = ['--rate', '1200/min', '--private-hosts', '127.0.0.0/8', '--json', '--run', 'cut'];
    const crawl = workplace.start(['crawl', site.url('/sitemap.xml'), ...flags]);
    await site.arrival('/page/10');
    crawl.signal('SIGINT');
    const { code, stdout } = await crawl.ended;
    expect(code).toBe(130);
    const summary = JSON.parse(stdout);
    expect(summary.state).toBe('running');
    const asked = site.requests.filter(({ path }) => path.startsWith('/page/'));
    expect(summary.done, 'every page that was asked for').toBe(asked.length);
    expect(summary.inFlight).toBeLessThan(summary.discovered);
    expect((await workplace.records('cut')).length).toBe(summary.done);
  });
});

describe('exit codes and messages', () => {
  test.each([
    [['crawl'], 2, 'nothing to crawl'],
    [['crawl', 'example.com'], 2, 'did you mean https://example.com/'],
    [['crawl', 'nowhere.txt'], 2, "nowhere.txt doesn't exist, and a URL begins with https://"],
    [['crawl', 'ftp://example.com/'], 2, 'its scheme is ftp'],
    [['crawl', 'http://127.0.0.1/', '--run', 'No Good'], 2, 'expected a run id'],
    [['crawl', 'http://127.0.0.1/', '--rate', 'fast'], 78, 'expected --rate to be a rate like'],
    [
      ['crawl', 'http://127.0.0.1/', '--crawler', 'nobody'],
      78,
      'expected CRAWLER to be the name of a crawler in crawlers/',
    ],
    [['crawl', 'http://127.0.0.1/', '--routes', 'missing.json'], 78, "missing.json can't be read"],
    [['crawl', '--nonsense'], 2, "unknown option '--nonsense'"],
    [['status', '--run', 'r'], 2, '(Did you mean status RUN, without a flag?)'],
    [['pause', 'a.example'], 2, 'for a host, trawl pause --host a.example'],
    [['nonsense'], 2, "unknown command 'nonsense'"],
    [['records', 'nothing-here'], 1, 'no records of run nothing-here in ./output; it has no runs'],
    [['records', 'r', '--format', 'xml'], 2, 'expected --format to be jsonl, json or csv'],
    [['--help'], 0, 'Commands:'],
    [['work', '--help'], 0, '--exit-when-idle'],
  ])('trawl %j exits with %i and says "%s"', async (args, code, said) => {
    const workplace = await openWorkplace();
    const ended = await workplace.run(args);
    expect(ended.stdout + ended.stderr).toContain(said);
    expect(ended.code).toBe(code);
    if (code !== 0) expect(ended.stderr).not.toMatch(/a bug in Trawl|\n {4}at /);
  });

  test('records says of a run without an ended page that it has no records yet', async () => {
    const workplace = await openWorkplace();
    await mkdir(join(workplace.folder, 'output', 'begun'), { recursive: true });
    const { code, stderr } = await workplace.run(['records', 'begun']);
    expect(stderr).toBe('trawl: run begun has no records in ./output (OUTPUT_DIR): none of its pages has ended yet\n');
    expect(code).toBe(1);
  });

  test('all wrong settings are reported at once, whether from flags, .env or the environment', async () => {
    const workplace = await openWorkplace({ WORKER_CONCURRENCY: 'many' });
    await writeFile(join(workplace.folder, '.env'), 'MAX_BODY=big\n');
    const { code, stderr } = await workplace.run(['crawl', 'http://127.0.0.1/', '--content', 'pdf']);
    expect(code).toBe(78);
    expect(stderr.split('\n').slice(0, 4)).toEqual([
      'trawl: 3 problems:',
      '  expected --content to be one of none, text, markdown, article, html, got "pdf"',
      '  expected MAX_BODY to be a size like 10MiB (10 × 1024 × 1024 bytes) or 10MB (10 000 000 bytes), got "big"',
      '  expected WORKER_CONCURRENCY to be a whole number from 1 to 2048, or auto, got "many"',
    ]);
  });

  test('crawl exits with 1 if every URL failed, with 0 if only some did, and then with 3 under --strict', async () => {
    const { site, workplace } = await setup();
    const [gone, page] = [site.url('/status/404'), site.url('/page/1')];
    expect((await workplace.run(['crawl', gone, ...AT_FULL_SPEED])).code).toBe(1);
    expect((await workplace.run(['crawl', gone, page, ...AT_FULL_SPEED])).code).toBe(0);
    expect((await workplace.run(['crawl', gone, page, '--strict', ...AT_FULL_SPEED])).code).toBe(3);
  });

  test('--json prints only JSON on standard output, and warnings on standard error', async () => {
    const { site, workplace } = await setup();
    site.on('/no-sitemap.xml', (_, response) => response.setHeader('content-type', 'text/html').end('a page'));
    const { stdout, stderr } = await workplace.run([
      'crawl',
      site.url('/no-sitemap.xml'),
      '--json',
      '--rate',
      'none',
      '--private-hosts',
      '127.0.0.0/8',
    ]);
    expect(JSON.parse(stdout).done).toBe(1);
    expect(stderr).toContain('it is crawled as a page');
  });

  test('the demo crawls its own site without any settings or services', async () => {
    const workplace = await openWorkplace();
    const summary = await workplace.json(['demo']);
    expect(summary).toMatchObject({ state: 'finished', done: 41, skipped: 3, failed: 1, duplicate: 1 });
    expect(summary.reasons.skipped).toEqual({ content_type: 1, robots: 1, duplicate: 1 });
  });
});
