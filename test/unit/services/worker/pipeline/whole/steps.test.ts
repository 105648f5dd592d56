import { expect, onTestFinished, test, vi } from 'vitest';
import { type Crawler, defineCrawler } from '../../../../../../shared/crawler/crawler.ts';
import type { PageFunction, StepResult } from '../../../../../../shared/crawler/definition.ts';
import { Page } from '../../../../../../shared/crawler/page.ts';
import { settled } from '../../../../../support/stores/embedded.ts';
import { deliver, setup } from '../../setup.ts';

const HERE = 'test/unit/services/worker/pipeline/whole/steps.test.ts';

/** A crawler with this step, which its author got wrong. */
function crawlerOf(step: () => unknown): Crawler {
  return defineCrawler({ name: 'broken', step: step as PageFunction });
}

function fail(thrown: unknown): never {
  throw thrown;
}

// biome-ignore format: a table
test.each<[string, () => unknown, RegExp]>([
  ['throws',                          () => fail(new Error('no such selector')),         new RegExp(`^${HERE}:\\d+: no such selector, in .+$`)],
  ['throws a TypeError',              () => fail(new TypeError('no such field')),        new RegExp(`^${HERE}:\\d+: TypeError: no such field, in .+$`)],
  ['rejects',                         async () => fail(new Error('no such selector')),   new RegExp(`^${HERE}:\\d+: no such selector, in .+$`)],
  ['throws a value that is not an error',         () => fail('why'),                                 /^crawler page: it threw 'why'$/],
  ['throws a value that can not be printed',    () => fail(Object.create(null)),                   /^crawler page: it threw /],
  ['returns nothing',                 () => undefined,                                   /^crawler page: expected a step to return \{ data, links \}, got undefined$/],
  ['resolves to nothing',             async () => undefined,                             /got undefined$/],
  ['returns a list',                  () => [],                                          /got a list$/],
  ['returns a text',                  () => 'https://a.test/',                           /got a string$/],
  ['returns its data alone',          () => ({ title: 'a', price: 1 }),                  /: expected a step to return \{ data, links \}, got an object with title, price: put what is to be kept in data, \{ data: \{ title, price \} \}$/],
  ['returns unknown fields beside data',          () => ({ data: 1, meta: {} }),                     /got an object with meta, too: put what is to be kept in data$/],
  ['returns its data alone, with many fields',      () => Object.fromEntries(Array.from({ length: 99 }, (_, n) => [`field ${n}`, n])), /got an object with field 0, field 1, field 2, field 3, … \(99\): put what is to be kept in data$/],
  ['yields as in Scrapy',             function* () { yield { n: 1 }; },                  /: expected a step to return \{ data, links \}, got a generator: return what it would yield, \{ data: \[…\] \}$/],
  ['yields and awaits',               async function* () { yield { n: 1 }; },            /got a generator: return what it would yield/],
  ['calls a method of Scrapy',           () => fail(new TypeError('page.css is not a function')), /TypeError: page\.css is not a function: page\.get\('h1'\) is a text, /],
  ['returns links that are not a list',  () => ({ links: 'https://a.test/' }),              /: expected links to be a list of strings, got a string$/],
  ['returns a link that is not a text',  () => ({ links: ['/a', new URL('http://a.test')] }), /: expected links to be a list of strings, got an object at 1$/],
  ['forgets to await its data',       () => ({ data: Promise.resolve(1) }),              /: expected data to be a value, got a promise: await it$/],
  ['has a getter that throws',        () => ({ get links() { return fail(new Error('no links')); } }), new RegExp(`^${HERE}:\\d+: no links, in .+$`)],
])('a step that %s fails its page at once, with file, line and message', async (_, step, said) => {
  const world = await setup({ crawler: crawlerOf(step), run: { follow: true } });
  expect(await world.pipeline().handle(await deliver(world, '/page/1'))).toBe('ack');
  expect(await world.runs.progress('r')).toMatchObject({ failed: 1, inFlight: 0, reasons: { failed: { step: 1 } } });
  expect(world.sink.records).toMatchObject([{ outcome: 'failed', reason: 'step', attempt: 1, error: expect.stringMatching(said) }]);
  expect(await world.letters()).toMatchObject([{ reason: 'step', error: expect.stringMatching(said) }]);
  expect(world.log.lines).toEqual([expect.stringMatching(/^warn: failed .*step/)]);
});

test('a page frees its tree after its step has ended, before its record is stored', async () => {
  const told: string[] = [];
  const step: PageFunction = (page) => {
    const forget = page.forgetTree.bind(page);
    page.forgetTree = () => {
      told.push(`forgotten with ${world.sink.records.length} records`);
      forget();
    };
    return { data: page.all('a').length };
  };
  const world = await setup({ crawler: defineCrawler({ name: 'page', step }) });
  expect(await world.pipeline().handle(await deliver(world, '/page/1'))).toBe('ack');
  expect(told).toEqual(['forgotten with 0 records']);
  expect(world.sink.records).toMatchObject([{ outcome: 'done', data: expect.any(Number) }]);
});

// biome-ignore format: a table
test.each<[string, () => { mockImplementation(act: () => never): unknown }, boolean]>([
  ['its content', () => vi.spyOn(Page.prototype, 'contentAs'),    false],
  ['its title',                () => vi.spyOn(Page.prototype, 'title', 'get'), false],
  ['a large page ahead',        () => vi.spyOn(Page.prototype, 'readAhead'),    true],
])('a page fails at once, with the error, if Trawl itself can not read %s', async (_, spy, isLarge) => {
  vi.spyOn(Page.prototype, 'isLarge', 'get').mockReturnValue(isLarge);
  spy().mockImplementation(() => fail(new RangeError('Maximum call stack size exceeded')));
  onTestFinished(() => void vi.restoreAllMocks());
  const world = await setup({ crawler: crawlerOf(() => ({})), run: { content: 'markdown' } });
  expect(await world.pipeline().handle(await deliver(world, '/page/1'))).toBe('ack');
  const error = expect.stringMatching(/, the reading of its page: RangeError: Maximum call stack size exceeded/);
  expect(world.sink.records).toMatchObject([{ outcome: 'failed', reason: 'step', attempt: 1, error }]);
  expect(await world.letters()).toMatchObject([{ reason: 'step', error }]);
});

test('an `accepts` that throws fails its page', async () => {
  const accepts = () => fail(new Error('no such type'));
  const world = await setup({ crawler: defineCrawler({ name: 'page', step: () => ({}), accepts }) });
  expect(await world.pipeline().handle(await deliver(world, '/page/1'))).toBe('ack');
  expect(await world.letters()).toMatchObject([
    { reason: 'step', error: expect.stringMatching(`^${HERE}:\\d+: no such type, in .const accepts = .+`) },
  ]);
});

// biome-ignore format: a table
test.each<[string, (type?: string) => unknown, object]>([
  ['a match',        (type) => type?.match(/html/),   { outcome: 'done' }],
  ['no match',                  (type) => type?.match(/image/),  { outcome: 'skipped', reason: 'content_type' }],
  ['an empty text',             () => '',                        { outcome: 'skipped', reason: 'content_type' }],
  ['a promise',                 async () => true,                { outcome: 'failed', reason: 'step', error: "crawler page: expected accepts to say yes or no, got a promise: it can't be async" }],
  ['a promise that rejects',    async () => fail('why'),         { outcome: 'failed', reason: 'step', error: expect.stringContaining('got a promise') }],
])('a page is done, skipped or failed depending on what `accepts` returns: %s', async (_, accepts, record) => {
  const definition = { name: 'page', step: () => ({}), accepts: accepts as () => boolean };
  const world = await setup({ crawler: defineCrawler(definition) });
  expect(await world.pipeline().handle(await deliver(world, '/page/1'))).toBe('ack');
  expect(world.sink.records).toMatchObject([record]);
});

test('a step that never settles fails after STEP_TIMEOUT, and other steps are not affected', async () => {
  const first = Promise.withResolvers<StepResult>();
  const steps = [first.promise, new Promise<StepResult>(() => {})];
  const world = await setup({ crawler: crawlerOf(() => steps.shift()) });
  const pipeline = world.pipeline({ stepTimeoutMs: 30_000 });
  await world.offer('/page/1', '/page/2');
  const handled = (await world.deliveries()).map((delivery) => pipeline.handle(delivery));
  await expect.poll(() => steps.length).toBe(0);
  await settled();
  for (let ms = 0; ms < 27_000; ms += 3_000) {
    world.clock.step(3_000);
    await settled();
  }
  first.resolve({ data: 1 });
  expect(await handled[0]).toBe('ack');
  expect(await world.runs.progress('r')).toMatchObject({ done: 1, inFlight: 1 });
  for (let ms = 0; ms < 6_000; ms += 3_000) {
    world.clock.step(3_000);
    await settled();
  }
  expect(await handled[1]).toBe('ack');
  expect(await world.letters()).toMatchObject([
    { reason: 'step', error: 'crawler page: it took longer than 30 s (STEP_TIMEOUT)' },
  ]);
});

test('time in which the process did not run does not count towards STEP_TIMEOUT', async () => {
  const step = Promise.withResolvers<StepResult>();
  const world = await setup({ crawler: crawlerOf(() => step.promise) });
  const handled = world.pipeline({ stepTimeoutMs: 30_000 }).handle(await deliver(world, '/page/1'));
  await expect.poll(() => world.site.requests.length).toBe(1);
  await new Promise((resolve) => setTimeout(resolve, 50));
  world.clock.step(3_600_000);
  await settled();
  step.resolve({});
  expect(await handled).toBe('ack');
  expect(await world.runs.progress('r')).toMatchObject({ done: 1 });
});

test('a step that blocks the process for longer than STEP_TIMEOUT fails even if it ends', async () => {
  const entered: string[] = [];
  const watch = { enter: (url: string) => void entered.push(url), leave: () => 31_000 };
  const world = await setup();
  expect(await world.pipeline({ watch, stepTimeoutMs: 30_000 }).handle(await deliver(world, '/page/1'))).toBe('ack');
  expect(entered).toEqual([world.site.url('/page/1')]);
  expect(await world.letters()).toMatchObject([{ reason: 'step', error: expect.stringContaining('longer than 30 s') }]);
});

test('the same failure of many pages is warned about once', async () => {
  const world = await setup({ crawler: crawlerOf(() => fail(new Error('no such selector'))) });
  const pipeline = world.pipeline();
  await world.offer('/page/1', '/page/2', '/page/3');
  for (const delivery of await world.deliveries()) await pipeline.handle(delivery);
  expect(world.log.lines.map((line) => line.split(':')[0])).toEqual(['warn', 'info', 'info']);
});
