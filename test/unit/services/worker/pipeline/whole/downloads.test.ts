import { hash } from 'node:crypto';
import { expect, test } from 'vitest';
import { defineCrawler } from '../../../../../../shared/crawler/crawler.ts';
import type { DownloadHow } from '../../../../../../shared/crawler/file-step.ts';
import { testCrawler } from '../../../../../../shared/crawler/testing/test-crawler.ts';
import { MemoryFiles, setup } from '../../setup.ts';

const PDF = Buffer.from('%PDF-1.4 a file');
const NAME = `${hash('sha256', PDF)}.pdf`;

function crawlerOf(links: readonly (string | undefined)[], how?: DownloadHow) {
  return defineCrawler({ name: 'files', steps: { start: { run: ({ download }) => download(links, how) } } });
}

/** A world whose first step has asked for these files. `work` handles what is due. */
async function asked(links: readonly string[], { how, run = {} }: { how?: DownloadHow; run?: object } = {}) {
  const world = await setup({ crawler: crawlerOf(links, how), run });
  const files = new MemoryFiles();
  world.site.on('/a.pdf', (_, response) => void response.setHeader('content-type', 'application/pdf').end(PDF));
  world.site.on('/b', (_, response) => void response.setHeader('content-type', 'application/pdf').end(PDF));
  world.site.on('/to-a', (_, response) => void response.writeHead(302, { location: '/a.pdf' }).end());
  world.site.on('/page.html', (_, response) => {
    response.setHeader('content-type', 'text/html').end('<title>t</title><a href=/page/9>9</a>');
  });
  await world.offer('/page/1');
  const pipeline = world.pipeline({ files });
  const work = async (): Promise<void> => {
    for (const delivery of await world.deliveries()) expect(await pipeline.handle(delivery)).toBe('ack');
  };
  await work();
  return { ...world, files, work };
}

test('a file is stored under its hash, and its record names the path and the page it comes from', async () => {
  const world = await asked(['/a.pdf']);
  await world.work();
  expect([...world.files.stored]).toEqual([[NAME, PDF]]);
  const [, record] = world.sink.records;
  expect(record).toMatchObject({
    outcome: 'done',
    step: 'download',
    items: 1,
    title: null,
    bytes: PDF.length,
    contentHash: hash('sha256', PDF),
    data: {
      url: world.site.url('/a.pdf'),
      path: NAME,
      name: 'a.pdf',
      bytes: PDF.length,
      contentType: 'application/pdf',
      hash: hash('sha256', PDF),
      from: world.site.url('/page/1'),
    },
  });
});

test('one content at two URLs makes one file and two records; a redirect to a known file is a duplicate', async () => {
  const world = await asked(['/a.pdf', '/b', '/a.pdf', '/to-a']);
  await world.work();
  expect([...world.files.stored.keys()]).toEqual([NAME]);
  const records = world.sink.records.slice(1);
  expect(records.map(({ url, outcome }) => [new URL(url).pathname, outcome])).toEqual([
    ['/a.pdf', 'done'],
    ['/b', 'done'],
    ['/to-a', 'skipped'],
  ]);
  expect(await world.runs.progress('r')).toMatchObject({ steps: { download: { discovered: 3, done: 2, skipped: 1 } } });
});

test('a downloaded HTML file is not treated as a page, even if the run follows links and keeps content', async () => {
  const world = await asked(['/page.html'], { run: { follow: true, content: 'html' } });
  await world.work();
  const record = world.sink.records.find(({ step }) => step === 'download');
  expect(record).toMatchObject({ outcome: 'done', title: null, data: { path: expect.stringMatching(/\.html$/) } });
  expect(record).not.toHaveProperty('content');
  expect(world.site.count('/page/9')).toBe(0);
});

// biome-ignore format: a table
test.each<[string, DownloadHow | undefined, object]>([
  ['/status/404',       undefined,         { outcome: 'failed', reason: 'http_4xx', error: 'HTTP 404' }],
  ['/a.pdf',            { maxBytes: 14 },  { outcome: 'skipped', reason: 'size', error: 'The body is over 14 bytes' }],
  ['/a.pdf',            { maxBytes: 15 },  { outcome: 'done' }],
  ['http://127.0.0.1.nip.invalid/', undefined, { outcome: 'failed', reason: 'dns' }],
  ['http://169.254.169.254/x', undefined,  { outcome: 'skipped', reason: 'private_address' }],
])('the outcome of a file at %s with %j is %j', async (link, how, ending) => {
  const world = await asked([link], { ...(how === undefined ? {} : { how }), run: { maxAttempts: 1 } });
  await world.work();
  const record = world.sink.records[1];
  expect(record).toMatchObject({ step: 'download', ...ending });
  const about = record?.outcome === 'done' ? record.data : record;
  expect(about).toMatchObject({ from: world.site.url('/page/1') });
});

test('links to files may leave the scope and the include patterns; only exclude patterns leave them out', async () => {
  const links = ['http://localhost:1/b.png', '/not/this.png', undefined];
  const world = await setup({ crawler: crawlerOf(links), run: { include: ['/page/*'], exclude: ['/not/*'] } });
  await world.offer('/page/1');
  for (const delivery of await world.deliveries()) await world.pipeline().handle(delivery);
  expect(await world.runs.progress('r')).toMatchObject({ discovered: 2, leftOut: { scope: 1 } });
});

test('a file that can’t be stored is put back, and the worker learns of the failure', async () => {
  const world = await asked(['/a.pdf']);
  world.files.failure = new Error('no space left');
  const [delivery] = await world.deliveries();
  if (delivery === undefined) throw new Error('nothing was released');
  expect(await world.pipeline({ files: world.files }).handle(delivery)).toBe('ack');
  expect(world.sinkFailures).toEqual(['no space left']);
  expect(await world.runs.progress('r')).toMatchObject({ waiting: 1, inFlight: 0, done: 1 });
  expect(world.sink.records.length).toBe(1);
});

test.each([0, 1.5, -1, 104_857_601, Number.NaN, '10MiB'])(
  'a download with maxBytes %s fails the page',
  async (maxBytes) => {
    const crawler = crawlerOf(['/a.pdf'], { maxBytes: maxBytes as number });
    await expect(testCrawler(crawler, { html: '' })).rejects.toThrow(
      /step start: download: expected maxBytes to be a number of bytes from 1 to 104857600, got /,
    );
  },
);

test('`testCrawler` returns the downloads of a step as follows', async () => {
  const { follows } = await testCrawler(crawlerOf(['/a.pdf', undefined]), { html: '', url: 'https://a.test/b/' });
  expect(follows).toEqual([{ step: 'download', url: 'https://a.test/a.pdf' }]);
});

test('a crawler can’t define a step named download', () => {
  const define = () => defineCrawler({ name: 'files', steps: { download: { run() {} } } });
  expect(define).toThrow('crawler files: step download: expected another name: this is the step that stores files');
});

test('a tested page whose URL is stored as a file names the way out, and a tested run leaves such a seed out', async () => {
  const crawler = defineCrawler({
    name: 'files',
    patterns: { download: '*.pdf' },
    steps: { start: { run: ({ emit }) => emit({ n: 1 }) } },
  });
  const url = 'https://a.test/a.pdf';
  await expect(testCrawler(crawler, { html: '', url })).rejects.toThrow(
    'crawler files stores https://a.test/a.pdf as a file, by its patterns: name the step that is to read it',
  );
  expect(await testCrawler(crawler, { html: '', url, step: 'start' })).toMatchObject({ items: [{ n: 1 }] });
  const pages = [{ html: '', url: 'https://a.test/' }];
  const { items } = await testCrawler(crawler, { pages, seeds: [url, 'https://a.test/'] });
  expect(items).toEqual({ start: [{ n: 1 }] });
});
