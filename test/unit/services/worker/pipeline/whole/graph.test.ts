import { expect, test } from 'vitest';
import { z } from 'zod';
import { defineCrawler } from '../../../../../../shared/crawler/crawler.ts';
import { Page } from '../../../../../../shared/crawler/page.ts';
import { StepRun } from '../../../../../../shared/crawler/step-run.ts';
import type { RunOptions } from '../../../../../../shared/ports/runs.ts';
import { EVERYTHING } from '../../../../../support/stores/embedded.ts';
import { deliver, setup } from '../../setup.ts';

const item = z.object({ n: z.number() });

/** Works on `/page/1` at the first step of a crawler. Returns the offers, the record, the progress and the dead letters. */
async function worked(
  crawler: ReturnType<typeof defineCrawler>,
  run: Partial<RunOptions> = {},
): Promise<{ offers: object[]; record: object | undefined; progress: object | undefined; letters: unknown[] }> {
  const world = await setup({ crawler, run });
  expect(await world.pipeline().handle(await deliver(world, '/page/1'))).toBe('ack');
  const { tasks } = await world.frontier.release(EVERYTHING);
  const offers = tasks.map(({ task: { url, step, depth, kept, queue } }) => ({
    at: new URL(url).pathname,
    step,
    depth,
    queue,
    ...(kept === undefined ? {} : { kept }),
  }));
  return {
    offers,
    record: world.sink.records[0],
    progress: await world.runs.progress('r'),
    letters: await world.letters(),
  };
}

test('a step emits items and follows links with their kept values, even if the run follows no links', async () => {
  const crawler = defineCrawler({
    name: 'graph',
    steps: {
      start: {
        to: ['start', 'product'],
        record: item,
        run({ follow, emit }) {
          emit({ n: 1 });
          emit({ n: 2 });
          follow('product', ['/product/1', undefined], { kept: { sku: 'a' } });
          follow('start', '/list/2');
          follow('start', undefined);
        },
      },
      product: { keeps: z.object({ sku: z.string() }), priority: true, run() {} },
    },
  });
  const { offers, record } = await worked(crawler);
  expect(offers).toEqual([
    { at: '/product/1', step: 'product', depth: 0, queue: 'priority', kept: { sku: 'a' } },
    { at: '/list/2', step: '', depth: 1, queue: 'normal' },
  ]);
  expect(record).toMatchObject({ outcome: 'done', step: 'start', items: 2, data: [{ n: 1 }, { n: 2 }] });
});

test('relative links that a step follows are resolved against the base URL of the page, as the page’s own links are', () => {
  const page = Page.fromHtml('<base href=/shop/><a href="p/1?q=ж">1</a><img src=i.png>', { url: 'http://a.test/all/' });
  const crawler = defineCrawler({
    name: 'graph',
    steps: {
      start: {
        to: ['start'],
        run({ follow, download }) {
          follow('start', [page.attr('a', 'href'), '?page=2', 'http://b.test/x', '//c.test/y', undefined]);
          follow('start', { url: 'search', method: 'POST', body: {} });
          download(page.attr('img', 'src'));
        },
      },
    },
  });
  const [step] = crawler.steps;
  if (step === undefined) throw new Error('there is a step');
  const run = new StepRun(crawler, step, page, {});
  run.begin();
  expect(run.end().follows.flatMap(({ links }) => links)).toEqual([
    'http://a.test/shop/p/1?q=%D0%B6',
    'http://a.test/shop/?page=2',
    'http://b.test/x',
    'http://c.test/y',
    'http://a.test/shop/search',
    'http://a.test/shop/i.png',
  ]);
  expect(page.resolve('../x')).toBe('http://a.test/x');
});

test('an object emitted twice is recorded as it was at each call', async () => {
  const crawler = defineCrawler({
    name: 'graph',
    steps: {
      start: {
        run({ emit }) {
          const item = { n: 1 };
          emit(item);
          item.n = 2;
          emit(item);
        },
      },
    },
  });
  expect((await worked(crawler)).record).toMatchObject({ items: 2, data: [{ n: 1 }, { n: 2 }] });
});

test('the data of a record is the item itself if there is one, and null if there is none', async () => {
  const crawlerOf = (items: number) =>
    defineCrawler({
      name: 'items',
      steps: {
        start: {
          run({ emit }) {
            for (let n = 0; n < items; n++) emit({ n });
          },
        },
      },
    });
  expect((await worked(crawlerOf(1))).record).toMatchObject({ items: 1, data: { n: 0 } });
  expect((await worked(crawlerOf(0))).record).toMatchObject({ items: 0, data: null });
});

test('a link is left out if its condition is not met or it is outside the scope of its step', async () => {
  const crawler = defineCrawler({
    name: 'left',
    steps: {
      start: {
        to: ['product', 'other'],
        run({ follow }) {
          follow('product', ['/product/1', '/product/2']);
          follow('other', ['/other/1', '/news/1']);
        },
      },
      product: { when: { exists: 'sku' }, run() {} },
      other: { include: ['/other/*'], run() {} },
    },
  });
  const { offers, progress } = await worked(crawler);
  expect(offers).toMatchObject([{ at: '/other/1', step: 'other' }]);
  expect(progress).toMatchObject({ leftOut: { condition: 2, scope: 1 }, done: 1 });
});

type Saying = {
  readonly emit: (item: number) => void;
  readonly follow: (step: 'start', links: readonly string[]) => void;
};
const STEPS = { product: { keeps: z.object({ sku: z.string() }), run() {} } };

// biome-ignore format: a table
test.each<[string, (context: { follow: (...args: unknown[]) => void; emit: (item: unknown) => void }) => unknown, string, RegExp]>([
  ['emits what breaks its schema',         ({ emit }) => emit({ n: 'x' }),                                         'schema',    /step start: an item: n: Invalid input: expected number, received string \("x"\), in .+$/],
  ['emits a good and an invalid item',  ({ emit }) => { emit({ n: 1 }); try { emit({}); } catch {} },           'schema',    /n: Invalid input: expected number, received undefined \(it is missing\), in .+$/],
  ['emits a list',                         ({ emit }) => emit([{ n: 1 }]),                                         'step',      /, step start: emits a list: emit each of its items, in .+$/],
  ['follows to a step not in its `to`',   ({ follow }) => follow('start', '/a'),                                  'step',      /, step start: follows links to start, which is not in its `to`, in .+$/],
  ['follows to an unknown step',                   ({ follow }) => follow('prodct', '/a'),                                 'step',      /follows links to prodct, which is no step: did you mean product\?, in .+$/],
  ['follows to undefined',                   ({ follow }) => follow(undefined, '/a'),                                'step',      /follow: expected the name of a step, got undefined, in .+$/],
  ['follows a value that is not a link',              ({ follow }) => follow('product', [new Map()], { kept: { sku: 'a' } }),  'step',      /expected links as texts, or as requests with a `url`: page\.links\(css\) has those of elements, in .+$/],
  ['follows a URL object',        ({ follow }) => follow('product', new URL('https://a.example/'), { kept: { sku: 'a' } }), 'step', /expected links as texts, or as requests with a `url`, got a URL: take its href, in .+$/],
  ['gives what is kept without `kept`',   ({ follow }) => follow('product', '/a', { sku: 'a' }),                  'step',      /follow: unknown option sku, expected \{ kept: \{ … \} \}, in .+$/],
  ['keeps a value that is not an object',              ({ follow }) => follow('product', '/a', { kept: 'a' }),                 'step',      /follow: expected kept to be an object, got a string, in .+$/],
  ['keeps an unknown field',              ({ follow }) => follow('product', '/a', { kept: { skuu: 'a' } }),       'step',      /links to product keep skuu, which the `keeps` of product doesn't have, in .+$/],
  ['keeps a field of a wrong type',          ({ follow }) => follow('product', '/a', { kept: { sku: 1 } }),          'schema',    /the kept of links to product: sku: Invalid input: expected string, received number \(1\), in .+$/],
  ['keeps too much',                       ({ follow }) => follow('product', '/a', { kept: { sku: 'x'.repeat(17_408) } }), 'too_large', /a link to product keeps 17418 bytes, more than 16384, in .+$/],
  ['keeps too much in all its links',      ({ follow }) => follow('product', Array.from({ length: 300 }, (_, n) => `/${n}`), { kept: { sku: 'x'.repeat(16_000) } }), 'too_large', /the links of this page keep 4803000 bytes together, more than 4194304, in .+$/],
  ['returns something',                    () => ({ data: 1 }),                                                    'step',      /expected a step to return nothing, got an object: emit what is to be kept$/],
  ['yields as in Scrapy',                  function* () { yield { n: 1 }; },                                        'step',      /expected a step to return nothing, got a generator: call emit and follow where it yields$/],
  ['yields and awaits',                    async function* () { yield { n: 1 }; },                                  'step',      /got a generator: call emit and follow where it yields$/],
])('a step that %s fails its page, and nothing of the page is recorded or offered', async (_, run, reason, said) => {
  const steps = { start: { to: ['product'], record: item, run }, ...STEPS };
  const crawler = defineCrawler({ name: 'wrong', steps } as unknown as Parameters<typeof defineCrawler>[0]);
  const { offers, record, letters } = await worked(crawler);
  expect(offers).toEqual([]);
  expect(record).toMatchObject({ outcome: 'failed', reason, error: expect.stringMatching(said) });
  expect(letters).toMatchObject([{ reason, error: expect.stringMatching(said) }]);
});

test.each([
  ['emits', 'items', ({ emit }: Saying) => emit(1)],
  ['follows', 'links', ({ follow }: Saying) => follow('start', Array<string>(100_000).fill('http://a.test/'))],
])(
  'a step that %s in an endless loop is stopped before it uses up the memory',
  { timeout: 60_000 },
  (says, what, say) => {
    const run = (context: Saying): void => {
      for (;;) say(context);
    };
    const crawler = defineCrawler({ name: 'endless', steps: { start: { to: ['start'], run } } });
    const step = crawler.steps[0] as NonNullable<(typeof crawler.steps)[0]>;
    const begun = new StepRun(crawler, step, Page.fromHtml('', { url: 'http://a.test/' }), {});
    const said = `${says} more than 1000000 ${what} of one page: does its loop end?`;
    expect(() => begun.begin()).toThrow(said);
  },
);

test('an item schema with an async check fails the page with an error that says so', async () => {
  const record = z.object({ n: z.number().refine(async (n) => n > 0) });
  const crawler = defineCrawler({ name: 'slow', steps: { start: { record, run: ({ emit }) => emit({ n: 1 }) } } });
  const said = /step start: its schema has something async: await that in the step, before it emits, in .+$/;
  expect((await worked(crawler)).letters).toMatchObject([{ reason: 'step', error: expect.stringMatching(said) }]);
});

test('a link that keeps a value without a form in JSON fails the page', async () => {
  const crawler = defineCrawler({
    name: 'odd',
    steps: {
      start: { to: ['any'], run: ({ follow }) => follow('any', '/a', { kept: { when: { at: new Date(0) } } }) },
      any: { keeps: z.looseObject({}), run() {} },
    },
  });
  expect((await worked(crawler)).letters).toMatchObject([
    {
      error: expect.stringMatching(
        /the kept of links to any can't be written as JSON: kept\.when\.at is a Date, not a plain object, in .+$/,
      ),
    },
  ]);
});

test('kept values are copied when the link is followed, so later changes don’t reach them', async () => {
  const crawler = defineCrawler({
    name: 'crumbs',
    steps: {
      start: {
        to: ['any'],
        run({ follow }) {
          const crumbs: string[] = [];
          for (const link of ['/a', '/b']) {
            crumbs.push(link);
            follow('any', link, { kept: { crumbs } });
          }
          // It can no longer be written as JSON.
          (crumbs as unknown[]).push(crumbs);
        },
      },
      any: { keeps: z.object({ crumbs: z.array(z.string()) }), run() {} },
    },
  });
  expect((await worked(crawler)).offers).toMatchObject([
    { kept: { crumbs: ['/a'] } },
    { kept: { crumbs: ['/a', '/b'] } },
  ]);
});

test('a missing kept value does not matter if there is no link to follow', async () => {
  const crawler = defineCrawler({
    name: 'lone',
    steps: {
      start: {
        to: ['product'],
        run: ({ page, follow }) =>
          follow('product', page.links('.none'), { kept: { sku: page.get('.none') as string } }),
      },
      product: { keeps: z.object({ sku: z.string() }), run() {} },
    },
  });
  expect((await worked(crawler)).record).toMatchObject({ outcome: 'done' });
});

test('a seed for a step with a `keeps` schema fails with the reason schema', async () => {
  const run = (): void => {};
  const crawler = defineCrawler({ name: 'seeded', steps: { product: { keeps: z.object({ sku: z.string() }), run } } });
  expect((await worked(crawler)).letters).toMatchObject([
    { reason: 'schema', error: expect.stringContaining('the kept of step product: sku: Invalid') },
  ]);
});

test('a run that follows links follows all links of a page, each to the step whose pattern it matches', async () => {
  const crawler = defineCrawler({
    name: 'rules',
    patterns: { article: '/page/*' },
    steps: { start: { run() {} }, article: { run() {} } },
  });
  const { offers } = await worked(crawler, { follow: true, maxDepth: 3 });
  expect(offers.length).toBeGreaterThan(0);
  expect(new Set(offers.map((offer) => JSON.stringify({ ...offer, at: '' })))).toEqual(
    new Set([JSON.stringify({ at: '', step: 'article', depth: 1, queue: 'normal' })]),
  );
});
