import { expect, test } from 'vitest';
import { Offerer, type OffererOptions } from '../../../../services/producer/offerer.ts';
import {
  type Frontier,
  MAX_OFFER,
  type OfferOptions,
  type OfferResult,
} from '../../../../shared/ports/frontier/frontier.ts';
import type { SitemapEntry } from '../../../../shared/task/sitemap/sitemap-entry.ts';
import { pages } from './documents.ts';
import { HurriedClock } from './hurried-clock.ts';
import { RUN_OPTIONS, setup as setupParts } from './setup.ts';

interface HeldOffer {
  readonly urls: number;
  readonly changes: readonly (number | undefined)[];
  readonly options: OfferOptions | undefined;
  answer(): Promise<void>;
  fail(error: Error): void;
}

/** An offerer whose offers reach a real frontier when the test lets them. */
async function setup({ window = 4, loop }: Partial<Pick<OffererOptions, 'window' | 'loop'>> = {}) {
  const { parts } = setupParts();
  await parts.runs.open('r', RUN_OPTIONS, 'p');
  const held: HeldOffer[] = [];
  const frontier: Pick<Frontier, 'offer'> = {
    offer: (run, tasks, options) =>
      new Promise<OfferResult>((resolve, reject) => {
        held.push({
          urls: tasks.length,
          changes: tasks.map((task) => ('changedAt' in task ? task.changedAt : undefined)),
          options,
          answer: async () => resolve(await parts.frontier.offer(run, tasks, options)),
          fail: reject,
        });
      }),
  };
  const stop = new AbortController();
  const offerer = new Offerer({
    frontier: frontier as Frontier,
    clock: new HurriedClock(),
    run: 'r',
    incarnation: () => undefined,
    rules: () => ({ rules: [], urlKey: [] }),
    limit: () => undefined,
    window,
    loop,
    signal: stop.signal,
    refused: () => Promise.reject(new Error('refused')),
    failed: () => stop.abort(),
    accepted: () => {},
  });
  return { offerer, held, parts, stop };
}

const entries = (urls: readonly string[]): SitemapEntry[] =>
  urls.map((loc) => ({ loc, lastmod: undefined, to: 'page' }));

const isSettled = async (promise: Promise<unknown>): Promise<boolean> =>
  await Promise.race([promise.then(() => true), new Promise<false>((resolve) => setImmediate(() => resolve(false)))]);

test('the first URLs are offered at once; later ones gather into full batches while an offer is under way', async () => {
  const { offerer, held } = await setup();
  await offerer.add(entries(pages(10, 'https://example.com/a')), false);
  await offerer.add(entries(pages(300, 'https://example.com/b')), false);
  await offerer.add(entries(pages(300, 'https://example.com/c')), false);
  expect(held.map(({ urls }) => urls)).toEqual([10, MAX_OFFER]);
});

test('in a process that also crawls, one small offer is under way at a time, and the event loop is yielded after each', async () => {
  const turns: (() => void)[] = [];
  const others = (): Promise<void> => new Promise((resolve) => turns.push(resolve));
  const { offerer, held } = await setup({ loop: { others } });
  const added = offerer.add(entries(pages(600, 'https://example.com/a')), false);
  for (const step of [0, 1]) {
    expect(await isSettled(added)).toBe(false);
    expect([held.length, turns.length]).toEqual([step + 1, step]);
    await held[step]?.answer();
    await expect.poll(() => turns.length).toBe(step + 1);
    expect(await isSettled(added)).toBe(false);
    expect(held.length).toBe(step + 1);
    turns[step]?.();
  }
  await expect.poll(() => held.length).toBe(3);
  await held[2]?.answer();
  await added;
  expect(held.map(({ urls }) => urls)).toEqual([250, 250, 100]);
});

test('many small documents also yield the event loop now and then', async () => {
  let turns = 0;
  const others = async (): Promise<void> => {
    turns++;
  };
  const { offerer, held } = await setup({ loop: { others } });
  for (let at = 0; at < 10; at++) {
    const added = offerer.add(entries(pages(100, `https://example.com/${at}`)), false);
    await held[at]?.answer();
    await added;
  }
  expect([held.length, turns]).toEqual([10, 3]);
});

test('offers and their repeats carry the change times of sitemaps if `tellsChanges` is set', async () => {
  const { offerer, held } = await setup();
  const lastmods = ['2026-11-21T09:30:15.000Z', 'yesterday', undefined];
  const dated = (from: number) =>
    lastmods.map((lastmod, i): SitemapEntry => ({ loc: `https://example.com/${from + i}`, lastmod, to: 'page' }));
  const told = [Date.parse('2026-11-21T09:30:15.000Z'), undefined, undefined];
  await offerer.add(dated(1), false);
  expect(held.at(-1)?.changes).toEqual([undefined, undefined, undefined]);
  await held[0]?.answer();
  offerer.tellsChanges = true;
  await offerer.add(dated(11), true);
  await expect.poll(() => held.at(1)?.changes).toEqual(told);
  await held[1]?.answer();
  await offerer.drain();
  const repeating = offerer.repeat(offerer.recent());
  await held[2]?.answer();
  await expect.poll(() => held.length).toBe(4);
  expect(held.at(-1)?.changes).toEqual(told);
  await held[3]?.answer();
  await repeating;
});

test('gathered URLs are offered when no offer is under way any more', async () => {
  const { offerer, held } = await setup();
  await offerer.add(entries(pages(10, 'https://example.com/a')), false);
  await offerer.add(entries(pages(10, 'https://example.com/b')), false);
  await held[0]?.answer();
  await expect.poll(() => held.length).toBe(2);
});

test('adding waits while as many offers as the window allows are under way', async () => {
  const { offerer, held } = await setup({ window: 2 });
  const adding = offerer.add(entries(pages(5 * MAX_OFFER)), false);
  expect(await isSettled(adding)).toBe(false);
  expect(held).toHaveLength(2);
  for (let answered = 0; answered < 5; answered++) {
    await expect.poll(() => held.length).toBe(Math.min(5, answered + 2));
    await held[answered]?.answer();
  }
  await adding;
  await offerer.drain();
  expect(offerer.counts).toEqual({ offered: 5 * MAX_OFFER, accepted: 5 * MAX_OFFER, known: 0, malformed: 0 });
});

test('texts that are not URLs are offered as malformed and counted', async () => {
  const { offerer, held, parts } = await setup();
  await offerer.add(entries(['https://example.com/', 'no url', 'ftp://example.com/']), false);
  await held[0]?.answer();
  await offerer.drain();
  expect(offerer.counts).toEqual({ offered: 3, accepted: 3, known: 0, malformed: 2 });
  expect(await parts.runs.progress('r')).toMatchObject({ discovered: 3, waiting: 3 });
});

test('URLs added again are offered as a repeat and don’t count as duplicates', async () => {
  const { offerer, held, parts } = await setup();
  await offerer.add(entries(pages(3)), false);
  await held[0]?.answer();
  await offerer.drain();
  await offerer.add(entries(pages(4)), true);
  await held[1]?.answer();
  await offerer.drain();
  expect(held[1]?.options).toEqual({ repeat: true });
  expect(offerer.counts).toEqual({ offered: 3, accepted: 4, known: 0, malformed: 0 });
  expect(await parts.runs.progress('r')).toMatchObject({ discovered: 4, duplicate: 0 });
});

test('URLs still gathered when others are added again are offered on their own, and count as duplicates', async () => {
  const { offerer, held } = await setup();
  await offerer.add(entries(pages(3)), false);
  await offerer.add(entries(pages(2)), false);
  await offerer.add(entries(pages(1)), true);
  await held[0]?.answer();
  for (const at of [1, 2]) {
    await expect.poll(() => held.length).toBe(at + 1);
    await held[at]?.answer();
  }
  await offerer.drain();
  expect(held.map(({ urls, options }) => [urls, options?.repeat])).toEqual([
    [3, false],
    [2, false],
    [1, true],
  ]);
  expect(offerer.counts).toEqual({ offered: 5, accepted: 3, known: 2, malformed: 0 });
});

test('a failed offer is reported at once and thrown by every later call', async () => {
  const { offerer, held, stop } = await setup();
  await offerer.add(entries(pages(3)), false);
  held[0]?.fail(new Error('gone'));
  await expect(offerer.drain()).rejects.toThrow('gone');
  await expect(offerer.add(entries(pages(3)), false)).rejects.toThrow('gone');
  await expect(offerer.stop()).rejects.toThrow('gone');
  expect(held).toHaveLength(1);
  expect(stop.signal.aborted).toBe(true);
});

test('offers can be repeated as they were, malformed ones too', async () => {
  const { offerer, held } = await setup();
  const texts = ['https://example.com/a%7eb', 'https://example.com/\u00e9', 'no\nurl'];
  await offerer.add(entries(texts), false);
  await held[0]?.answer();
  await offerer.drain();
  const repeating = offerer.repeat(offerer.recent());
  expect(held[1]).toMatchObject({ urls: 3, options: { repeat: true } });
  await held[1]?.answer();
  await repeating;
  expect(offerer.counts).toMatchObject({ offered: 3, accepted: 3, known: 0 });
});
