import { expect, test } from 'vitest';
import { Replayer } from '../../../../../../services/producer/replayer.ts';
import { readLetter } from '../../../../../../shared/control/letters/letter-filter.ts';
import { letterJson } from '../../../../../../shared/control/letters/letter-json.ts';
import { defineCrawler } from '../../../../../../shared/crawler/crawler.ts';
import { INITIAL_FIELDS } from '../../../../../../shared/task/task/form.ts';
import { offerOf } from '../../../../../../shared/task/task/offer.ts';
import { isProblem, readUrl } from '../../../../../../shared/task/url/url.ts';
import { FAST_RUN } from '../../../../../support/builders.ts';
import { setup } from '../../setup.ts';

type Follow = (step: string, links: string | readonly string[]) => void;

const mended = { is: false };

/** A crawler whose owner leads to two parts of its group, to a page in no group, and to another owner. */
const crawler = defineCrawler({
  name: 'joined',
  steps: {
    list: { to: ['owner'], run() {} },
    owner: {
      to: ['left', 'right', 'seller', 'owner'],
      run({ follow, emit }: { follow: Follow; emit: (item: unknown) => void }) {
        follow('left', '/page/2');
        follow('right', '/page/3');
        // The second time it is an unknown URL.
        follow('seller', mended.is ? '/page/7' : '/page/4');
        follow('owner', '/page/5');
        emit({ is: 'owner' });
      },
    },
    left: {
      to: ['seller'],
      run({ follow, emit }: { follow: Follow; emit: (item: unknown) => void }) {
        follow('seller', '/page/6');
        emit({ is: 'left' });
      },
    },
    right: {
      run({ emit }: { emit: (item: unknown) => void }) {
        if (!mended.is) throw new Error('not mended yet');
        emit({ is: 'right' });
      },
    },
    seller: { apart: true, run() {} },
  },
  joins: {
    sum: {
      per: 'owner',
      of: ['owner', 'left', 'right'],
      run({
        inputs,
        missing,
        emit,
      }: {
        inputs: { records: unknown[] }[];
        missing: object;
        emit: (item: unknown) => void;
      }) {
        if (!mended.is) throw new Error('not mended yet');
        emit({ of: inputs.flatMap(({ records }) => records), missing });
      },
    },
  },
} as never);

async function started(isPlain = false) {
  const joins = crawler.joinPlan;
  if (joins === undefined) throw new Error('it has joins');
  mended.is = false;
  const world = await setup({ crawler, run: { dedup: 'ever', maxAttempts: 1, joins } });
  const { site, frontier, runs, transport, clock } = world;
  site.on('/from', (_, response) => void response.writeHead(301, { location: '/page/1' }).end());
  const url = readUrl(site.url('/from').replace('http://', isPlain ? 'http://' : 'http://me:secret@'));
  if (isProblem(url)) throw new Error(url.problem);
  const request = isPlain ? {} : { request: { method: 'GET', headers: { 'x-token': 'hidden' } } as const };
  const about = { ...INITIAL_FIELDS, step: 'owner', kept: { shop: 7 }, ...request };
  await frontier.offer('r', [offerOf(url, { rules: [], urlKey: undefined }, about)]);
  /** Works on tasks until none is due. */
  const work = async () => {
    for (let due = await world.deliveries(); due.length > 0; due = await world.deliveries())
      for (const each of due) expect(await world.pipeline().handle(each)).toBe('ack');
  };
  const parts = { letters: transport, frontier, runs, marks: world.marks, rules: [], clock, filter: {}, overrides: {} };
  const replay = (isDry = false) =>
    new Replayer({
      ...{ ...parts, defaults: FAST_RUN, isDry, limit: Number.POSITIVE_INFINITY },
      signal: new AbortController().signal,
    }).replay();
  return { ...world, work, replay };
}

test('dead letters of a group carry its owner as first offered, and are displayed without its secrets', async () => {
  const { work, letters, site, transport } = await started();
  await work();
  const [member, join] = (await letters()).filter((letter) => letter?.owner?.url === site.url('/from'));
  const owner = {
    ...{ url: site.url('/from'), step: 'owner', depth: 0, kept: { shop: 7 } },
    request: { method: 'GET', headers: { 'x-token': 'hidden' } },
    logins: { [new URL(site.url('/')).origin]: 'me:secret' },
    claimed: expect.stringMatching(/^owner \S+\/page\/1#/),
  };
  expect(member).toMatchObject({ step: 'right', owner });
  expect(join).toMatchObject({ step: 'sum', owner });
  for (const letter of [member, join]) expect(letter?.owner).not.toHaveProperty('redirects');
  const shown = JSON.stringify((await transport.browse(100)).map((message) => letterJson(readLetter(message))));
  expect(shown).toContain(`"owner":{"v":1`);
  expect(shown).not.toMatch(/secret|hidden/);
});

test('a replay fetches each group again as a whole, despite known URLs, and follows no link out of it', async () => {
  const { work, replay, runs, sink, site, letters } = await started();
  await work();
  const failed = (await letters()).map((letter) => [letter?.step, letter?.owner?.url]);
  expect(failed.toSorted()).toEqual(
    ['/from', '/page/5']
      .flatMap((path) => [
        ['right', site.url(path)],
        ['sum', site.url(path)],
      ])
      .toSorted(),
  );
  expect(await replay(true)).toMatchObject({
    runs: [{ letters: 4, ofGroups: { letters: 4, owners: 2 }, accepted: 0 }],
  });
  expect(await letters()).toHaveLength(4);
  mended.is = true;
  site.reset();
  site.on('/from', (_, response) => void response.writeHead(301, { location: '/page/1' }).end());
  expect(await replay()).toMatchObject({
    runs: [{ run: 'r-replay-1', letters: 4, ofGroups: { letters: 4, owners: 2 }, accepted: 2, known: 0 }],
    withoutOwner: 0,
  });
  expect(await letters()).toEqual([]);
  await work();
  const made = sink.records.filter(
    ({ run, step, outcome }) => run === 'r-replay-1' && step === 'sum' && outcome === 'done',
  );
  expect(made.map(({ url }) => url).toSorted()).toEqual([site.url('/from'), site.url('/page/5')].toSorted());
  for (const { data } of made as { data?: unknown }[])
    expect(data).toEqual({
      of: [{ is: 'owner' }, { is: 'left' }, { is: 'right' }],
      missing: { count: 0, outcomes: {}, first: [] },
    });
  expect(site.requests.map(({ path }) => path)).not.toContain('/page/7');
  expect(site.requests.map(({ path }) => path)).not.toContain('/page/6');
  expect(await runs.progress('r-replay-1')).toMatchObject({ state: 'finished', discovered: 8, done: 8, openGroups: 0 });
});

test('a replayed owner whose redirect leads to another known page is skipped', async () => {
  const { work, replay, site, runs } = await started(true);
  await work();
  mended.is = true;
  site.on('/from', (_, response) => void response.writeHead(301, { location: '/page/5' }).end());
  await replay();
  await work();
  expect(await runs.progress('r-replay-1')).toMatchObject({ skipped: 1, reasons: { skipped: { duplicate: 1 } } });
});

test('groups that fail again get dead letters of the replay, which can be replayed in turn', async () => {
  const { work, replay, letters, sink } = await started();
  await work();
  await replay();
  await work();
  expect((await letters()).map((letter) => letter?.run)).toEqual(Array(4).fill('r-replay-1'));
  mended.is = true;
  expect(await replay()).toMatchObject({ runs: [{ run: 'r-replay-1-replay-1', accepted: 2 }] });
  await work();
  const made = sink.records.filter(({ run, step }) => run === 'r-replay-1-replay-1' && step === 'sum');
  expect(made.map(({ outcome }) => outcome)).toEqual(['done', 'done']);
});
