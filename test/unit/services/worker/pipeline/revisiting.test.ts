import { expect, test } from 'vitest';
import type { RunOptions } from '../../../../../shared/ports/runs.ts';
import { FAST_RUN } from '../../../../support/builders.ts';
import { ChangingPages } from '../../../../support/changing-pages.ts';
import { offerOf } from '../../../../support/stores/embedded.ts';
import { withMethods } from '../../../../support/with-methods.ts';
import { setup as setupWorker } from '../setup.ts';

async function setup() {
  const world = await setupWorker({ run: { incremental: true } });
  const pages = new ChangingPages(world.site, 3);
  return {
    ...world,
    pages,
    /** Visits paths of the site in a run of their own and returns its progress. */
    async visit(run: string, paths: readonly string[], options: Partial<RunOptions> = {}) {
      await world.runs.open(run, { ...FAST_RUN, incremental: true, ...options }, 'p');
      await world.frontier.offer(
        run,
        paths.map((path) => offerOf(world.site.url(path))),
      );
      for (const delivery of await world.deliveries()) await world.pipeline().handle(delivery);
      return await world.runs.progress(run);
    },
  };
}

test('an incremental run asks conditionally for a page it has visited, even if the response is still cached', async () => {
  const { visit, pages, sink } = await setup();
  expect(await visit('one', ['/page/1'])).toMatchObject({ done: 1, bytesSaved: 0 });
  expect(await visit('two', ['/page/1'])).toMatchObject({ skipped: 1, bytes: 0, bytesSaved: pages.bytes(1) });
  pages.change(1);
  expect(await visit('three', ['/page/1'])).toMatchObject({ done: 1, bytesSaved: 0 });
  expect(await visit('four', ['/page/1'])).toMatchObject({ skipped: 1 });
  expect(await visit('plain', ['/page/1'], { incremental: false })).toMatchObject({ done: 1 });
  expect(pages.takeAnswers()).toEqual(['200 /page/1', '200 /page/1', '304 /page/1', '304 /page/1']);
  expect(sink.records).toMatchObject([
    { run: 'one', outcome: 'done' },
    { run: 'two', outcome: 'skipped', reason: 'not_modified', status: 304 },
    { run: 'three', outcome: 'done', fromCache: false },
    { run: 'four', outcome: 'skipped', reason: 'not_modified' },
    { run: 'plain', outcome: 'done', fromCache: true },
  ]);
});

test('a 304 to an unconditional request is a failure, and the next incremental run asks for the whole page', async () => {
  const { visit, site, pages } = await setup();
  site.on('/odd', (_, response) => response.writeHead(304).end());
  const once = { maxAttempts: 1 };
  expect(await visit('one', ['/odd'], once)).toMatchObject({ failed: 1, reasons: { failed: { redirects: 1 } } });
  site.on('/odd', (_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('here'));
  expect(await visit('two', ['/odd', '/page/1'], once)).toMatchObject({ done: 2 });
  expect(pages.takeAnswers()).toEqual(['200 /page/1']);
});

test('an ETag of more than 1,024 characters is not kept, and its page is asked for whole', async () => {
  const { visit, site } = await setup();
  const lengths: [string, number][] = [
    ['/long', 1_025],
    ['/usual', 1_024],
  ];
  for (const [path, length] of lengths)
    site.on(path, (_, response) => {
      response.writeHead(200, { 'content-type': 'text/html', etag: `"${'e'.repeat(length - 2)}"` }).end('here');
    });
  const paths = lengths.map(([path]) => path);
  await visit('one', paths);
  await visit('two', paths);
  const sent = site.requests
    .filter(({ path }) => path !== '/robots.txt')
    .map(({ headers }) => headers['if-none-match']?.length);
  expect(sent).toEqual([undefined, undefined, undefined, 1_024]);
});

test('a page with a new ETag but the same content is recorded as unchanged', async () => {
  const { visit, pages, sink } = await setup();
  await visit('one', ['/page/1']);
  pages.change(1, { sameContent: true });
  await visit('two', ['/page/1']);
  pages.change(1);
  await visit('three', ['/page/1']);
  expect(sink.records.map((record) => 'unchanged' in record && record.unchanged)).toEqual([false, true, false]);
});

test('a visited page is fetched whole if the run keeps other content or follows its links', async () => {
  const { visit, pages } = await setup();
  await visit('one', ['/page/1']);
  await visit('content', ['/page/1'], { content: 'html' });
  await visit('content-again', ['/page/1'], { content: 'html' });
  await visit('follow', ['/page/1'], { content: 'html', follow: true, maxDepth: 1 });
  await visit('leaf', ['/page/1'], { content: 'html', follow: true, maxDepth: 0 });
  const answers = pages.answers.filter(({ path }) => path === '/page/1');
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 304, 200, 304]);
});

test('a run that follows links asks for a page with a next page whole, since its list would end at a 304', async () => {
  const { visit, site } = await setup();
  site.on('/list', (_, response) => {
    response
      .writeHead(200, { 'content-type': 'text/html', etag: '"1"' })
      .end('<link rel="next" href="/list?2"><a href="/list?2">');
  });
  const leaf = { follow: true, maxDepth: 0, hasDefaultDepth: true } as const;
  await visit('one', ['/list'], leaf);
  await visit('two', ['/list'], leaf);
  await visit('three', ['/list']);
  await visit('four', ['/list']);
  const conditional = site.requests
    .filter(({ path }) => path === '/list')
    .map(({ headers }) => headers['if-none-match']);
  expect(conditional).toEqual([undefined, undefined, undefined, '"1"']);
});

test('a page behind a redirect is asked for whole, and recognised as unchanged by its content', async () => {
  const { visit, site, sink } = await setup();
  const path = `/redirect-to?url=${encodeURIComponent(site.url('/page/1'))}`;
  await visit('one', [path]);
  await visit('two', [path]);
  expect(sink.records).toMatchObject([{ outcome: 'done' }, { outcome: 'done', unchanged: true }]);
  expect(site.requests.every(({ headers }) => headers['if-none-match'] === undefined)).toBe(true);
});

test('of two pages with one redirect target, the first is read again by runs that share marks, the second stays a duplicate', async () => {
  const { visit, runs, site, sink, clock } = await setup();
  const to = (n: number) => `/redirect-to?n=${n}&url=${encodeURIComponent(site.url('/page/1'))}`;
  for (const run of ['one', 'two', 'three']) {
    await visit(run, [to(1), to(2)], { dedup: 'ever', recrawlAfterMs: 1_000 });
    await runs.seal(run, 'p');
    clock.step(1_000);
  }
  expect(sink.records.map(({ url, ...record }) => [record.run, url.includes('n=1'), record.outcome])).toEqual(
    ['one', 'two', 'three'].flatMap((run) => [
      [run, true, 'done'],
      [run, false, 'skipped'],
    ]),
  );
});

test('a skipped page is remembered as visited, but not for conditional requests', async () => {
  const { visit, sink } = await setup();
  const path = '/type?ct=image/png';
  await visit('one', [path]);
  expect(await visit('young', [path], { recrawlAfterMs: 60_000 })).toMatchObject({ discovered: 0, duplicate: 1 });
  expect(await visit('two', [path])).toMatchObject({ skipped: 1, bytesSaved: 0 });
  expect(sink.records.map((record) => record.outcome)).toEqual(['skipped', 'skipped']);
});

test('a page whose record could not be stored is not remembered', async () => {
  const { visit, sink, pages, runs, frontier } = await setup();
  sink.failure = new Error('the disk is full');
  expect(await visit('one', ['/page/1'])).toMatchObject({ waiting: 1, done: 0 });
  sink.failure = undefined;
  await runs.cancel('one');
  await frontier.drain();
  expect(await visit('two', ['/page/1'])).toMatchObject({ done: 1, skipped: 0 });
  expect(pages.answers.every(({ conditions }) => conditions === '')).toBe(true);
});

test('a failed page is not remembered as visited; the age of a visit counts from its request', async () => {
  const { frontier, offer, deliveries, pipeline, clock, site } = await setup();
  const visits: unknown[] = [];
  const spied = withMethods(frontier, {
    settle: async (...args) => {
      visits.push(args[2].page?.askedMsAgo);
      return await frontier.settle(...args);
    },
  });
  site.on('/late', (_, response) => {
    clock.step(3_000);
    response.setHeader('content-type', 'text/html').end('<title>late</title>');
  });
  await offer('/late', '/status/404');
  for (const delivery of await deliveries()) await pipeline({ frontier: spied }).handle(delivery);
  expect(visits).toEqual([3_000, undefined]);
});
