import { expect, test } from 'vitest';
import { z } from 'zod';
import type { Middleware } from '../../../../../../shared/crawler/around/middleware.ts';
import { defineCrawler } from '../../../../../../shared/crawler/crawler.ts';
import type { PageRecord } from '../../../../../../shared/ports/record.ts';
import type { RecordSource } from '../../../../../../shared/ports/sink.ts';
import type { Delivery } from '../../../../../../shared/ports/transport.ts';
import { writeMessage } from '../../../../../../shared/task/task/message.ts';
import { idOf } from '../../../../../../shared/task/task/task.ts';
import { EVERYTHING, offerOf } from '../../../../../support/stores/embedded.ts';
import { deliveryOf, setup } from '../../setup.ts';

const n = z.object({ n: z.number() });

/** A crawler whose page 1 owns a group of two parts. The second part fails if `second` is not a number. */
function crawlerOf(joins: object, second: unknown = 2, middleware: readonly Middleware[] = []) {
  return defineCrawler({
    name: 'joined',
    middleware,
    steps: {
      start: {
        to: ['left', 'right'],
        run({ follow }: { follow: (step: string, links: string, how?: object) => void }) {
          follow('right', '/page/3', { kept: { n: 3 } });
          follow('left', '/page/2', { kept: { n: 2 } });
        },
      },
      left: { keeps: n, record: n, run: ({ emit }: { emit: (item: unknown) => void }) => emit({ n: 1 }) },
      right: { keeps: n, record: n, run: ({ emit }: { emit: (item: unknown) => void }) => emit({ n: second }) },
    },
    joins,
  } as never);
}

const SUM = {
  per: 'start',
  of: ['left', 'right'],
  run({
    owner,
    inputs,
    missing,
    emit,
  }: {
    owner: object;
    inputs: object[];
    missing: object;
    emit: (item: unknown) => void;
  }) {
    emit({ owner, inputs, missing });
  },
};

async function started(joins: object = { sum: SUM }, second?: unknown, middleware?: readonly Middleware[]) {
  const crawler = crawlerOf(joins, second, middleware);
  const world = await setup({ crawler, run: crawler.joinPlan === undefined ? {} : { joins: crawler.joinPlan } });
  await world.offer('/page/1');
  const pipeline = world.pipeline();
  const next = async (): Promise<Delivery[]> => await world.deliveries();
  const work = async (deliveries: readonly Delivery[]) => {
    for (const delivery of deliveries) expect(await pipeline.handle(delivery)).toBe('ack');
  };
  return { ...world, worked: pipeline, next, work };
}

test('a join gets its owner and the records of its members, ordered by step and URL', async () => {
  const { next, work, sink, site, runs } = await started();
  await work(await next());
  await work((await next()).toReversed());
  await work(await next());
  const [record] = sink.records.filter(({ step }) => step === 'sum');
  expect(record).toMatchObject({
    outcome: 'done',
    url: site.url('/page/1'),
    data: {
      owner: { url: site.url('/page/1'), kept: {} },
      inputs: [
        { step: 'left', url: site.url('/page/2'), kept: { n: 2 }, records: [{ n: 1 }] },
        { step: 'right', url: site.url('/page/3'), kept: { n: 3 }, records: [{ n: 2 }] },
      ],
      missing: { count: 0, outcomes: {}, first: [] },
    },
  });
  expect(await runs.progress('r')).toMatchObject({ done: 4, discovered: 4, openGroups: 0, waiting: 0, inFlight: 0 });
});

test('a failed member is listed by name as missing from the join', async () => {
  const { next, work, sink, site } = await started({ sum: SUM }, 'no number');
  for (let i = 0; i < 3; i++) await work(await next());
  expect(sink.records.find(({ step }) => step === 'sum')).toMatchObject({
    data: {
      inputs: [{ step: 'left' }],
      missing: {
        count: 1,
        outcomes: { failed: 1 },
        first: [{ step: 'right', url: site.url('/page/3'), outcome: 'failed', reason: 'schema' }],
      },
    },
  });
});

// biome-ignore format: a table
test.each<[string, object, object]>([
  ['throws',               { run() { throw new Error('no'); } },                                        { reason: 'step', error: expect.stringMatching(/join sum: no/) }],
  ['returns something',    { run: () => ({ n: 1 }) },                                                   { reason: 'step', error: expect.stringContaining('expected a join to return nothing') }],
  ['emits a list',         { run: ({ emit }: { emit: (item: unknown) => void }) => emit([]) },          { reason: 'step', error: expect.stringContaining('emit each of its items') }],
  ['catches a refusal',    { record: n, run({ emit }: { emit: (item: unknown) => void }) { try { emit({ n: 'x' }); } catch {} } }, { reason: 'schema', error: expect.stringContaining('join sum: an item') }],
  ['breaks its schema',    { record: n, run: ({ emit }: { emit: (item: unknown) => void }) => emit({ n: 'x' }) }, { reason: 'schema', error: expect.stringContaining('join sum: an item') }],
])('a join that %s fails, and its dead letter names the join and the reason', async (_, how, failed) => {
  const { next, work, sink, letters, runs } = await started({ sum: { ...SUM, ...how } });
  for (let i = 0; i < 3; i++) await work(await next());
  expect(sink.records.find(({ step }) => step === 'sum')).toMatchObject({ outcome: 'failed', ...failed });
  const [letter] = await letters();
  expect(letter).toMatchObject({ step: 'sum', reason: (failed as { reason: string }).reason, join: { per: '' } });
  expect(await runs.progress('r')).toMatchObject({ failed: 1, openGroups: 0 });
});

test('a join’s record holds its items in the order of the calls; an item emitted after its end is refused', async () => {
  let later = (_: unknown): void => {};
  const run = ({ emit }: { emit: (item: unknown) => void }) => {
    emit({ n: 1 });
    emit({ n: 2 });
    later = emit;
  };
  const { next, work, sink } = await started({ sum: { ...SUM, run } });
  for (let i = 0; i < 3; i++) await work(await next());
  expect(sink.records.at(-1)).toMatchObject({ step: 'sum', items: 2, data: [{ n: 1 }, { n: 2 }] });
  expect(() => later({ n: 3 })).toThrow('join sum has ended: await all its asynchronous work');
});

test('a join that emits a value without a form in JSON fails, and is missing from the joins that take it', async () => {
  const circle: Record<string, unknown> = {};
  circle.self = circle;
  const emitsNoJson = ({ emit }: { emit: (item: unknown) => void }) => emit(circle);
  const { next, work, sink, runs } = await started({
    sum: { ...SUM, run: emitsNoJson },
    total: { ...SUM, of: ['sum'] },
  });
  for (let i = 0; i < 4; i++) await work(await next());
  expect(sink.records.slice(-2)).toMatchObject([
    { step: 'sum', outcome: 'failed', reason: 'schema', error: expect.stringContaining("can't be written as JSON") },
    { step: 'total', outcome: 'done', data: { inputs: [], missing: { count: 1, first: [{ step: 'sum' }] } } },
  ]);
  expect(await runs.progress('r')).toMatchObject({ openGroups: 0, waiting: 0, inFlight: 0 });
});

test('a member that emits a value without a form in JSON fails, even if its stored record has one', async () => {
  const { next, work, sink } = await started({ sum: SUM }, 2, [
    { name: 'no-json', transform: (item) => (item.n === 2 ? { n: 2n } : undefined) },
    { name: 'json', beforeStore: ({ data }) => ({ data: String(data) }) },
  ]);
  for (let i = 0; i < 3; i++) await work(await next());
  expect(sink.records.filter(({ step }) => step === 'right')).toMatchObject([{ outcome: 'failed', reason: 'schema' }]);
  expect(sink.records.filter(({ step }) => step === 'sum')).toMatchObject([
    { outcome: 'done', data: { inputs: [{ step: 'left' }], missing: { count: 1 } } },
  ]);
});

const oneIn = (times: number) => {
  let calls = 0;
  return ({ inputs, emit }: { inputs: object[]; emit: (item: unknown) => void }) => {
    if (++calls < times) throw new Error(`not yet, ${calls}`);
    emit({ inputs: inputs.length, calls });
  };
};

// biome-ignore format: a table
test.each<[string, number, object, object]>([
  ['never, without a policy',        2, {},                                                                       { outcome: 'failed', attempt: 1 }],
  ['as often as the run says',      3, { retry: { backoff: 'fixed', firstDelayMs: 5_000 } },                     { outcome: 'done', attempt: 3, data: { inputs: 2, calls: 3 } }],
  ['as often as its own policy says',    3, { retry: { attempts: 2 } },                                               { outcome: 'failed', attempt: 2, reason: 'step' }],
  ['only for the reasons it names',        2, { retry: { when: ['schema'] } },                                          { outcome: 'failed', attempt: 1 }],
  ['only if its function says so',  3, { retry: { when: ({ attempt }: { attempt: number }) => attempt < 2 } },   { outcome: 'failed', attempt: 2 }],
  ['only until its deadline',        9, { deadlineMs: 15_000, retry: { attempts: 9, backoff: 'fixed', firstDelayMs: 10_000 } }, { outcome: 'failed', reason: 'deadline' }],
])('a join that throws is tried again %s, with the same inputs', async (_, succeedsAt, how, ended) => {
  const { next, work, sink, clock, runs } = await started({ sum: { ...SUM, ...how, run: oneIn(succeedsAt) } });
  for (let i = 0; i < 2; i++) await work(await next());
  for (let i = 0; i < 9; i++) {
    await work(await next());
    clock.step(10_000);
  }
  const made = sink.records.filter(({ step }) => step === 'sum');
  expect(made).toMatchObject([ended]);
  expect(await runs.progress('r')).toMatchObject({ openGroups: 0, waiting: 0, inFlight: 0, discovered: 4 });
});

test('a deadline with a fraction of a millisecond, such as an hour / 7, is rounded up, for steps and joins', async () => {
  const deadlineMs = 3_600_000 / 7;
  const crawler = defineCrawler({
    name: 'hurried',
    steps: {
      start: { to: ['part'], run: ({ follow }) => follow('part', '/page/2') },
      part: { deadlineMs, record: n, run: ({ emit }) => emit({ n: 1 }) },
    },
    joins: {
      sum: { per: 'start', of: ['part'], deadlineMs, run: ({ inputs, emit }) => emit({ parts: inputs.length }) },
    },
  });
  const { joinPlan: joins } = crawler;
  const world = await setup({ crawler, run: joins === undefined ? {} : { joins } });
  await world.offer('/page/1');
  const deadlines: (number | undefined)[] = [];
  for (let layer = 0; layer < 3; layer++) {
    const { tasks, now } = await world.frontier.release(EVERYTHING);
    deadlines.push(...tasks.map(({ state: { deadline } }) => deadline && deadline - now));
    for (const { task, release } of tasks)
      expect(await world.pipeline().handle(deliveryOf(writeMessage(task), { id: idOf(task), release }))).toBe('ack');
  }
  expect(deadlines).toEqual([undefined, 514_286, 514_286]);
  expect(world.sink.records.at(-1)).toMatchObject({ step: 'sum', data: { parts: 1 } });
});

test('a join that takes longer than its `timeoutMs` fails with an error that names the limit', async () => {
  const { next, work, sink, clock } = await started({
    sum: { ...SUM, timeoutMs: 100, run: () => new Promise(() => {}) },
  });
  for (let i = 0; i < 2; i++) await work(await next());
  const working = work(await next());
  await expect
    .poll(() => {
      clock.step(10_000);
      return sink.records.at(-1);
    })
    .toMatchObject({ outcome: 'failed', error: expect.stringContaining('longer than 0.1 s (timeoutMs of the join)') });
  await working;
});

test('a join whose worker died runs on the next delivery, and the stale delivery writes no record', async () => {
  const { next, work, sink, clock, frontier, worked } = await started();
  for (let i = 0; i < 2; i++) await work(await next());
  const [stale] = await next();
  clock.step(120_000);
  await frontier.reap();
  const [again] = await next();
  if (stale === undefined || again === undefined) throw new Error('the join was due');
  expect(await worked.handle(stale)).toBe('ack');
  expect(sink.records.filter(({ step }) => step === 'sum')).toEqual([]);
  await work([again]);
  expect(sink.records.filter(({ step }) => step === 'sum')).toHaveLength(1);
});

test('a join of a run that the store has lost is acked without running', async () => {
  const { next, work, sink, parts } = await started();
  for (let i = 0; i < 2; i++) await work(await next());
  const [join] = await next();
  const lost = await setup({ crawler: crawlerOf({ sum: SUM }) });
  if (join === undefined) throw new Error('the join was due');
  const { frontier } = lost;
  const elsewhere = lost.pipeline({
    ...parts,
    frontier: Object.assign(frontier, { admit: async () => ({ verdict: 'unknown_run' }) }),
  });
  expect(await elsewhere.handle(join)).toBe('ack');
  expect(sink.records.filter(({ step }) => step === 'sum')).toEqual([]);
});

test('a join message without a release is dead-lettered', async () => {
  const { next, work, letters, worked } = await started();
  for (let i = 0; i < 2; i++) await work(await next());
  const [join] = await next();
  if (join === undefined) throw new Error('the join was due');
  expect(await worked.handle({ ...join, headers: {} })).toBe('ack');
  expect(await letters()).toHaveLength(1);
});

const REPORT = {
  report: {
    of: ['left'],
    async run({
      counts,
      records,
      emit,
    }: {
      counts: object;
      records: (of: string) => AsyncIterable<unknown>;
      emit: (item: unknown) => void;
    }) {
      const rows = [];
      for await (const row of records('left')) rows.push(row);
      emit({ counts, rows });
    },
  },
};

/** A source of these records, as another process reads them. */
function sourceOf(records: readonly object[]): RecordSource {
  return {
    async *read() {
      yield* records as PageRecord[];
    },
    close: async () => {},
  } as Partial<RecordSource> as RecordSource;
}

test('a join of the run gets its counts from the store and its rows from the records', async () => {
  const { next, work, sink, runs, ...world } = await started(REPORT);
  for (let i = 0; i < 2; i++) await work(await next());
  await runs.seal('r');
  const pipeline = world.pipeline({ openRecords: async () => sourceOf(sink.records) });
  const [report] = await next();
  if (report === undefined) throw new Error('the report was due');
  expect(await pipeline.handle(report)).toBe('ack');
  expect(sink.records.at(-1)).toMatchObject({
    step: 'report',
    url: '',
    data: { counts: { start: 1, left: 1, right: 1, report: 0 }, rows: [{ n: 1 }] },
  });
  expect(await runs.progress('r')).toMatchObject({ state: 'finished', done: 4 });
});

test('a join of the run fails with both counts if fewer records can be read than the run counts', async () => {
  const { next, work, sink, runs, ...world } = await started(REPORT);
  for (let i = 0; i < 2; i++) await work(await next());
  await runs.seal('r');
  const pipeline = world.pipeline({ openRecords: async () => sourceOf([]) });
  const [report] = await next();
  if (report === undefined) throw new Error('the report was due');
  await pipeline.handle(report);
  expect(sink.records.at(-1)).toMatchObject({
    outcome: 'failed',
    error: expect.stringContaining('0 records of left can be read here, and the run counts 1'),
  });
});

test('members of a group leave no page behind for conditional requests of later runs', async () => {
  const crawler = crawlerOf({ sum: SUM });
  const world = await setup({
    crawler,
    run: { incremental: true, ...(crawler.joinPlan === undefined ? {} : { joins: crawler.joinPlan }) },
  });
  await world.frontier.offer('r', [offerOf(world.site.url('/page/1'))]);
  for (let i = 0; i < 3; i++) for (const each of await world.deliveries()) await world.pipeline().handle(each);
  const pages = world.database.all<{ mark: string }>('SELECT mark FROM pages');
  expect(pages.map(({ mark }) => mark)).toEqual([world.site.url('/page/1')]);
});
