import { expect, test } from 'vitest';
import { nameOf } from '../../../../../shared/ports/frontier/frontier.ts';
import {
  deleteLeftovers,
  forgetHosts,
  forgetPages,
  sweepEnded,
} from '../../../../../shared/stores/sqlite/leftovers.ts';
import { DAY_MS, HOUR_MS } from '../../../../../shared/task/durations.ts';
import { PAGE_RETENTION_MS } from '../../../../../shared/task/task/known-page.ts';
import { FAST_RUN } from '../../../../support/builders.ts';
import { EVERYTHING, offerOf, openEmbedded } from '../../../../support/stores/embedded.ts';
import { letterOf } from '../../../../support/stores/letters.ts';

const OPTIONS = { ...FAST_RUN, dedup: 'run', intervalMs: 100 } as const;
const PAGE = { contentHash: 'x', bytes: 5, readAs: 'page', askedMsAgo: 0, bytesSaved: 0 };

/** A store, and runs in it that have ended one after the other, each of three pages. */
async function setup(...ended: readonly string[]) {
  const parts = openEmbedded();
  const { runs, frontier, gate, clock, database, store } = parts;
  const crawl = async (run: string): Promise<void> => {
    await runs.open(run, OPTIONS, 'p');
    await frontier.offer(
      run,
      [1, 2, 3].map((n) => offerOf(`http://${run}.test/${n}`)),
    );
    await runs.seal(run, 'p');
    const settle = async (): Promise<number> => {
      const { tasks } = await frontier.release(EVERYTHING);
      for (const { task } of tasks) await gate.ask(task.host, { intervalMs: 100, concurrency: 0 }, 'w-1');
      for (const task of tasks) await frontier.settle(run, nameOf(task), { outcome: { kind: 'done' }, page: PAGE });
      return tasks.length;
    };
    while ((await settle()) > 0 || (await runs.progress(run))?.endedAt === undefined) clock.step(1_000);
  };
  for (const run of ended) await crawl(run);
  return {
    ...parts,
    crawl,
    /** How many marks each run has. */
    marks: () =>
      store.move(() =>
        database
          .all<{ id: string; marks: number }>(
            'SELECT id, (SELECT count(*) FROM marks WHERE owner = n) AS marks FROM runs ORDER BY n',
          )
          .map(({ id, marks }) => `${id} ${marks}`),
      ),
    pages: () => store.move(() => database.all<{ mark: string }>('SELECT mark FROM pages').map(({ mark }) => mark)),
    hosts: () =>
      store.move(() => database.all<{ host: string }>('SELECT host FROM hosts ORDER BY host').map(({ host }) => host)),
  };
}

test('the marks of ended runs are bounded: those of the last runs stay, and so do all runs', async () => {
  const { store, marks } = await setup('a', 'b', 'c');
  await sweepEnded(store, 6);
  await deleteLeftovers(store);
  expect(await marks()).toEqual(['a 0', 'b 3', 'c 3']);
  // The last one is kept, however many it has.
  await sweepEnded(store, 1);
  await deleteLeftovers(store);
  expect(await marks()).toEqual(['a 0', 'b 0', 'c 3']);
});

test('a run stays while its marks are being deleted, even if the process that deletes them is killed', async () => {
  const { store, marks } = await setup('a', 'b', 'c');
  await sweepEnded(store, 6);
  await sweepEnded(store, 6);
  await deleteLeftovers(store);
  expect(await marks()).toEqual(['a 0', 'b 3', 'c 3']);
});

test('a run whose letters can be replayed keeps its marks', async () => {
  const { store, marks, letters } = await setup('a', 'b', 'c');
  await letters.keep([letterOf('http://a.test/1', { run: 'a' })]);
  await sweepEnded(store, 1);
  await deleteLeftovers(store);
  expect([...(await marks()), await letters.count()]).toEqual(['a 3', 'b 0', 'c 3', 1]);
});

test('a host is forgotten a day after the last time in its record; limits and pauses set by hand stay', async () => {
  const { store, gate, clock, hosts, crawl } = await setup('a', 'b', 'c');
  await gate.pauseByHand('b.test', 'by hand');
  await gate.limit('c.test', 5_000);
  const known = await hosts();
  await forgetHosts(store);
  expect(await hosts()).toEqual(known);
  clock.step(DAY_MS - 60_000);
  await crawl('d');
  clock.step(HOUR_MS);
  await forgetHosts(store);
  expect(await hosts()).toEqual(['b.test', 'c.test', 'd.test']);
});

test('pages are forgotten 90 days after their last fetch, even if no run finds their URLs any more', async () => {
  const { store, clock, pages, crawl } = await setup('a');
  clock.step(DAY_MS);
  await crawl('b');
  await forgetPages(store);
  expect(await pages()).toHaveLength(6);
  clock.step(PAGE_RETENTION_MS - DAY_MS);
  await forgetPages(store);
  expect((await pages()).map((mark) => new URL(mark).host)).toEqual(['b.test', 'b.test', 'b.test']);
});

// biome-ignore format: a table
test.each([
  ['almost 90 days ago',     1 - PAGE_RETENTION_MS, true],
  ['90 days ago',            -PAGE_RETENTION_MS,    false],
  ['by a clock a day ahead', DAY_MS,                true],
  ['by one further ahead',   DAY_MS + 1,            false],
])('a page that was fetched %s is compared with its new version only if it can be trusted', async (_, ms, isKnown) => {
  const { store, database, clock, runs, frontier } = await setup('a');
  await runs.open('b', { ...OPTIONS, incremental: true }, 'p');
  await frontier.offer('b', [offerOf('http://a.test/1')]);
  clock.step(1_000);
  const [task] = (await frontier.release(EVERYTHING)).tasks;
  if (task === undefined) throw new Error('nothing is due');
  await store.move(({ now }) => database.run('UPDATE pages SET fetchedAt = ?', now + ms));
  const admission = await frontier.admit('b', nameOf(task), 'w-1');
  expect('known' in admission ? admission.known : undefined).toEqual(
    isKnown ? { contentHash: 'x', bytes: 5, readAs: 'page', fetchedAt: expect.any(Number) } : undefined,
  );
});

test('pages are swept once a day, whatever the clock was set to meanwhile', async () => {
  const { store, clock, pages } = await setup('a');
  clock.step(PAGE_RETENTION_MS - HOUR_MS);
  await forgetPages(store);
  clock.step(HOUR_MS);
  await forgetPages(store);
  expect(await pages()).toHaveLength(3);
  clock.step(DAY_MS);
  await forgetPages(store);
  expect(await pages()).toEqual([]);
});
