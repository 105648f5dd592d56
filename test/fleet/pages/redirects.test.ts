import { expect, onTestFinished, test } from 'vitest';
import { mostWithin } from '../../faults/harness/host-limits.ts';
import { openFleet } from '../../support/processes/fleet.ts';
import { TestSite } from '../../support/site.ts';

test('when a site redirects to a new host, both keep their limits and each gets one request per page', async () => {
  const { workplace, site: old } = await openFleet();
  const site = new TestSite();
  await site.start();
  onTestFinished(() => site.stop());
  const paths = Array.from(
    { length: 40 },
    (_, n) => `/redirect-to?url=${encodeURIComponent(site.url(`/page/${n + 1}`))}`,
  );
  const flags = ['--private-hosts', '127.0.0.0/8', '--robots', 'ignore'];
  for (let n = 0; n < 2; n++) workplace.start(['work', '--exit-when-idle', ...flags]);
  const list = paths.map((path) => old.url(path)).join('\n');
  const summary = await workplace.json(
    ['produce', '-', '--run', 'moved', '--wait', '--rate', '300/min', ...flags],
    list,
  );
  expect(summary).toMatchObject({ discovered: 40, done: 40 });
  expect(old.requests.map(({ path }) => path).toSorted()).toEqual(paths.toSorted());
  expect(site.requests.length).toBe(40);
  for (const each of [old, site]) {
    const starts = each.requests.map(({ at }) => at);
    // 5 per second, one more by the definition of the limit, and one for measuring errors.
    expect(mostWithin(starts, 1_000)).toBeLessThanOrEqual(7);
  }
  const records = await workplace.records('moved');
  expect(records.map(({ redirects }) => redirects.length)).toEqual(paths.map(() => 1));
});
