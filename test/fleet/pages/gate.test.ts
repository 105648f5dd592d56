import { expect, test } from 'vitest';
import { openFleet, pagesFetched } from '../../support/processes/fleet.ts';

/**
 * A request reaches the origin late: on a busy machine by half a second for the first request of a process.
 * So an interval is twice as long.
 */
const PER_MINUTE = 60;
const PAGES = 16;
const INTERVAL_MS = 60_000 / PER_MINUTE;
/** The longest delay of a request between the gate and the origin's log. */
const SLACK_MS = 50;

test('four workers on one host keep its limit together: at most k + 1 requests start in k intervals', async () => {
  const { workplace, site } = await openFleet({ pages: PAGES });
  const flags = ['--private-hosts', '127.0.0.0/8', '--robots', 'ignore'];
  for (let i = 0; i < 4; i++) workplace.start(['work', ...flags]);
  const summary = await workplace.json([
    'produce',
    site.url('/sitemap.xml'),
    '--wait',
    '--rate',
    `${PER_MINUTE}/min`,
    ...flags,
  ]);
  expect(summary).toMatchObject({ discovered: PAGES, done: PAGES });
  expect(pagesFetched(site).length).toBe(PAGES);
  const starts = site.requests.map(({ at }) => at);
  const broken: string[] = [];
  for (let from = 0; from < starts.length; from++) {
    for (let to = from + 1; to < starts.length; to++) {
      const span = (starts[to] ?? 0) - (starts[from] ?? 0);
      const intervals = to - from - 1;
      // From the first to the last of k + 2 starts lie at least k + 1 intervals; k of them hold k + 1 starts at most.
      if (span < intervals * INTERVAL_MS - SLACK_MS) broken.push(`${intervals + 2} starts in ${span.toFixed(0)} ms`);
    }
  }
  expect(broken).toEqual([]);
});
