import { expect, test } from 'vitest';
import { type Crawler, defineCrawler } from '../../../../../../shared/crawler/crawler.ts';
import type { TakenStatuses } from '../../../../../../shared/task/task/taken-statuses.ts';
import { FAST_RUN } from '../../../../../support/builders.ts';
import { offerOf } from '../../../../../support/stores/embedded.ts';
import { deliver, setup } from '../../setup.ts';

/** A crawler whose only step takes some statuses, and emits the status and heading of each page. */
function taking(statuses: TakenStatuses, rules: object = {}): Crawler {
  return defineCrawler({
    name: 'taking',
    steps: {
      start: {
        ...rules,
        statuses,
        run: ({ page, emit }) =>
          emit({ status: page.status, heading: page.get('h1'), retry: page.headers['retry-after'] }),
      },
    },
  });
}

/** Works on a path that answers with a status and a heading. */
async function worked(crawler: Crawler, status: number, headers: object = {}, body = '<h1>Sold out</h1>') {
  const world = await setup({ crawler });
  world.site.on('/p', (_, response) => {
    response.writeHead(status, { 'content-type': 'text/html', etag: '"e"', ...headers }).end(body);
  });
  expect(await world.pipeline().handle(await deliver(world, '/p'))).toBe('ack');
  const progress = await world.runs.progress('r');
  await world.offer('/another');
  const [host] = await world.runs.hosts('r', 1);
  return { world, host, record: world.sink.records[0], progress };
}

test.each([400, 401, 403, 404, 408, 410, 425, 429, 451, 500, 502, 503, 504])(
  'a step that takes %i gets that page with its status, once, and it is done',
  async (status) => {
    const { world, record, progress } = await worked(taking([status]), status);
    const data = { status, heading: 'Sold out' };
    expect(record).toMatchObject({ outcome: 'done', status, data, attempt: 1, bytes: 17, contentType: 'text/html' });
    expect(progress).toMatchObject({ done: 1, failed: 0, waiting: 0, bytes: 17 });
    expect(await world.letters()).toEqual([]);
  },
);

test('a status that the step doesn’t take fails or is retried as before', async () => {
  expect((await worked(taking([404]), 410)).record).toMatchObject({
    outcome: 'failed',
    reason: 'http_4xx',
    status: 410,
  });
  expect((await worked(taking([404]), 500)).progress).toMatchObject({ done: 0, waiting: 1 });
});

test('a crawler of one function takes statuses, too, and all of them', async () => {
  const crawler = defineCrawler({ name: 'short', statuses: 'all', step: (page) => ({ data: page.get('h1') }) });
  expect((await worked(crawler, 418)).record).toMatchObject({ outcome: 'done', status: 418, data: 'Sold out' });
});

test.each<[number, object, object]>([
  // status, headers, the host afterwards
  [404, {}, { pausedMs: 0, intervalMs: 0 }],
  [404, { 'retry-after': '60' }, { pausedMs: 0, intervalMs: 0 }],
  [500, {}, { pausedMs: 0, intervalMs: 0 }],
  [502, {}, { pausedMs: 0, intervalMs: 0 }],
  [429, {}, { pausedMs: 15_000, intervalMs: 1_000, reason: 'HTTP 429' }],
  [429, { 'retry-after': '60' }, { pausedMs: 60_000, intervalMs: 0, reason: 'HTTP 429, Retry-After' }],
  [500, { 'retry-after': '60' }, { pausedMs: 60_000, intervalMs: 0, reason: 'HTTP 500, Retry-After' }],
  [503, { 'retry-after': '60' }, { pausedMs: 60_000, intervalMs: 0, reason: 'HTTP 503, Retry-After' }],
  [503, {}, { pausedMs: 0, intervalMs: 1_000 }],
])('a taken %i with %j leaves its host with %j', async (status, headers, expected) => {
  const { host } = await worked(taking('all'), status, headers);
  expect(host).toMatchObject(expected);
});

test('a taken page whose step throws still pauses its host', async () => {
  const crawler = defineCrawler({
    name: 'throwing',
    steps: {
      start: {
        statuses: 'all',
        run: () => {
          throw new Error('it broke');
        },
      },
    },
  });
  const { host, record } = await worked(crawler, 429, { 'retry-after': '60' });
  expect(record).toMatchObject({ outcome: 'failed', reason: 'step', status: 429 });
  expect(host).toMatchObject({ pausedMs: 60_000 });
});

test('a step that throws on a taken 503 can have it tried again by its own policy', async () => {
  const retry = { when: ['step'], firstDelayMs: 5_000, backoff: 'fixed' } as const;
  const crawler = defineCrawler({
    name: 'again',
    steps: {
      start: {
        ...{ retry, statuses: [503] },
        run: ({ page }) => {
          if (page.status === 503) throw new Error('later');
        },
      },
    },
  });
  expect((await worked(crawler, 503)).progress).toMatchObject({ waiting: 1, failed: 0 });
});

test('a fallback gets the page of a taken error with its body', async () => {
  const crawler = defineCrawler({
    name: 'back',
    steps: {
      start: {
        ...{ fallback: 'lost', statuses: [404] },
        run: () => {
          throw new Error('it broke');
        },
      },
      lost: { run: ({ page, failure, emit }) => emit({ heading: page.get('h1'), status: failure?.status }) },
    },
  });
  expect((await worked(crawler, 404)).record).toMatchObject({
    step: 'lost',
    data: { heading: 'Sold out', status: 404 },
  });
});

test('a taken error of another type, or too long, counts as one that isn’t taken, and its error says why', async () => {
  const film = await worked(taking([404]), 404, { 'content-type': 'video/mp4' });
  expect(film.record).toMatchObject({
    ...{ outcome: 'failed', reason: 'http_4xx', status: 404 },
    error: 'HTTP 404, not taken as a page: The answer is video/mp4',
  });
  const long = await worked(taking([404]), 404, {}, 'x'.repeat(100_001));
  expect(long.record).toMatchObject({
    ...{ outcome: 'failed', reason: 'http_4xx', status: 404 },
    error: 'HTTP 404, not taken as a page: The body is over 100000 bytes',
  });
});

test('a taken 429 with a broken body still pauses its host, and is asked for again', async () => {
  const { host, progress } = await worked(taking([429]), 429, { 'content-encoding': 'gzip', 'retry-after': '60' });
  expect(host).toMatchObject({ pausedMs: 60_000, reason: 'HTTP 429, Retry-After' });
  expect(progress).toMatchObject({ done: 0, failed: 0, waiting: 1 });
});

test('a taken 404 whose body breaks off is asked for again; a POST is not', async () => {
  const cut = { 'content-length': '100' };
  expect((await worked(taking([404]), 404, { ...cut, connection: 'close' })).progress).toMatchObject({ waiting: 1 });
  const crawler = defineCrawler({
    name: 'posting',
    steps: {
      start: { to: ['answer'], run: ({ follow }) => follow('answer', { url: '/p', method: 'POST', body: 'q=1' }) },
      answer: { statuses: [404], run() {} },
    },
  });
  const world = await setup({ crawler });
  world.site.on('/p', (_, response) => {
    response.writeHead(404, cut);
    response.write('only this', () => response.socket?.destroy());
  });
  await world.pipeline().handle(await deliver(world, '/page/1'));
  for (const delivery of await world.deliveries()) await world.pipeline().handle(delivery);
  expect(world.sink.records[1]).toMatchObject({ outcome: 'failed', reason: 'http_4xx', status: 404 });
  expect(world.site.count('/p')).toBe(1);
});

test('a taken error is kept in no cache, and an incremental run asks for it whole the next time', async () => {
  const world = await setup({ crawler: taking([404]) });
  const sent: unknown[] = [];
  let status = 200;
  world.site.on('/p', ({ headers }, response) => {
    sent.push(headers['if-none-match']);
    response.writeHead(status, { 'content-type': 'text/html', etag: '"e"' }).end(`<h1>${status}</h1>`);
  });
  for (const [run, next] of Object.entries({ one: 404, two: 404, three: 200, four: 200 })) {
    await world.runs.open(run, { ...FAST_RUN, incremental: true }, 'p');
    await world.frontier.offer(run, [offerOf(world.site.url('/p'))]);
    for (const delivery of await world.deliveries()) await world.pipeline().handle(delivery);
    status = next;
  }
  await world.runs.open('plain', FAST_RUN, 'p');
  await world.frontier.offer('plain', [offerOf(world.site.url('/p'))]);
  for (const delivery of await world.deliveries()) await world.pipeline().handle(delivery);
  expect(sent, 'validators are sent after a success only').toEqual([undefined, '"e"', undefined, undefined]);
  const told = world.sink.records.map((record) => [record.run, record.outcome, 'status' in record && record.status]);
  expect(told.map(([run, outcome, got]) => `${String(run)} ${String(outcome)} ${String(got)}`)).toEqual([
    ...['one done 200', 'two done 404', 'three done 404', 'four done 200', 'plain done 200'],
  ]);
  expect(world.sink.records[2], 'the same page as before').toMatchObject({ unchanged: true });
  expect(world.sink.records.at(-1), 'only the 200 was cached').toMatchObject({ fromCache: true });
});

test('a taken error alone leaves nothing in the cache', async () => {
  const { world } = await worked(taking([404]), 404);
  await world.runs.open('next', FAST_RUN, 'p');
  await world.frontier.offer('next', [offerOf(world.site.url('/p'))]);
  for (const delivery of await world.deliveries()) await world.pipeline().handle(delivery);
  expect(world.site.count('/p')).toBe(2);
});

test('a redirect is followed to the error that is taken, and none is taken itself', async () => {
  const world = await setup({ crawler: taking('all') });
  world.site.on('/p', (_, response) => response.writeHead(404, { 'content-type': 'text/html' }).end('<h1>Gone</h1>'));
  const path = `/redirect-to?url=${encodeURIComponent(world.site.url('/p'))}`;
  await world.pipeline().handle(await deliver(world, path));
  const to = world.site.url('/p');
  expect(world.sink.records).toMatchObject([{ outcome: 'done', status: 404, finalUrl: to, redirects: [to] }]);
  await world.pipeline().handle(await deliver(world, '/status/300'));
  expect(world.sink.records[1]).toMatchObject({ outcome: 'failed', reason: 'redirects' });
});

test('a session that has ended logs in again before a 401 is taken', async () => {
  let logins = 0;
  const crawler = defineCrawler({
    name: 'inside',
    session: {
      login: async () => {
        logins++;
      },
    },
    steps: { start: { statuses: [401], run: ({ page, emit }) => emit({ status: page.status }) } },
  });
  const { record } = await worked(crawler, 401);
  expect(logins).toBe(2);
  expect(record).toBeUndefined();
});

test('robots.txt that answers with a taken status is read by its own rules', async () => {
  const world = await setup({ crawler: taking('all') });
  world.site.on('/robots.txt', (_, response) => response.writeHead(503).end('User-agent: *\nAllow: /'));
  await world.pipeline({ robots: world.robots() }).handle(await deliver(world, '/page/1'));
  expect(world.sink.records).toEqual([]);
  expect(world.site.count('/page/1')).toBe(0);
});
