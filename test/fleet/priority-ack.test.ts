import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { AT_FULL_SPEED } from '../support/full-speed.ts';
import { allPages, openFleet, pagesFetched } from '../support/processes/fleet.ts';

/** A fleet in which every page goes to the priority queue, with automatic acks. */
async function setup(pages: number, slowMs: number) {
  const fleet = await openFleet({ pages }, { PRIORITY_ACK: 'auto', ROUTES: 'routes.json', QUEUE_TYPE: 'classic' });
  await writeFile(join(fleet.workplace.folder, 'routes.json'), '[{ "path": "/page", "queue": "priority" }]');
  for (let n = 1; n <= pages; n++) {
    fleet.site.on(`/page/${n}`, (_, response) => void setTimeout(() => response.end('<title>slow</title>'), slowMs));
  }
  const sitemap = fleet.site.url('/sitemap.xml');
  return { ...fleet, work: ['work', '--worker-concurrency', '4', ...AT_FULL_SPEED], sitemap };
}

describe('PRIORITY_ACK=auto', () => {
  test('tasks that a worker cannot start within two seconds go back at no attempt, and every page is fetched once', async () => {
    const { workplace, site, work, sitemap, redis, keyPrefix } = await setup(200, 80);
    const worker = workplace.start(work);
    await worker.says(/consuming/);
    const summary = await workplace.json(['produce', sitemap, '--wait', ...AT_FULL_SPEED]);
    expect(summary).toMatchObject({ discovered: 200, done: 200, failed: 0 });
    expect(pagesFetched(site).toSorted()).toEqual(allPages(200).toSorted());
    expect(new Set((await workplace.records(summary.run)).map(({ attempt }) => attempt))).toEqual(new Set([1]));
    expect(Number(await redis.hget(`${keyPrefix}run:${summary.run}`, 'released'))).toBeGreaterThan(200);
    worker.signal('SIGTERM');
    expect((await worker.ended).code).toBe(0);
  });

  test('a stopped worker gives back the tasks it holds, and another worker ends the run', async () => {
    const { workplace, site, work, sitemap } = await setup(150, 50);
    const first = workplace.start(work);
    await first.says(/consuming/);
    const run = workplace.json(['produce', sitemap, '--wait', ...AT_FULL_SPEED]);
    await site.arrival('/page/20');
    first.signal('SIGTERM');
    expect((await first.ended).code).toBe(0);
    workplace.start(work);
    expect(await run).toMatchObject({ discovered: 150, done: 150, failed: 0 });
    expect(pagesFetched(site).length).toBe(150);
  });

  test('the tasks of a killed worker come back after a lease of at most a minute, and no URL is lost', async () => {
    const { workplace, site, work, sitemap, redis, keyPrefix } = await setup(120, 50);
    const doomed = workplace.start(work);
    await doomed.says(/consuming/);
    const { run } = await workplace.json(['produce', sitemap, ...AT_FULL_SPEED]);
    await site.arrival('/page/20');
    doomed.signal('SIGKILL');
    await doomed.ended;
    const key = `${keyPrefix}run:${run}`;
    const [seconds = 0] = await redis.time();
    const leases = await redis.zrange(`${key}:leases`, 0, -1, 'WITHSCORES');
    const ends = leases.filter((_, i) => i % 2 === 1).map((end) => Number(end) - Number(seconds) * 1_000);
    expect(ends.length).toBeGreaterThan(50);
    expect(Math.max(...ends), 'nothing is left under the long lease of a queued task').toBeLessThanOrEqual(61_000);
    // The minute passes.
    await redis.zadd(`${key}:leases`, ...leases.map((value, i) => (i % 2 === 0 ? value : '1')).reverse());
    const worker = await workplace.run([...work, '--exit-when-idle']);
    expect(worker.code).toBe(0);
    expect(await workplace.json(['status', run])).toMatchObject({ state: 'finished', discovered: 120, done: 120 });
    expect(new Set(pagesFetched(site)).size).toBe(120);
    expect(pagesFetched(site).length - 120, 'only what it was fetching is fetched again').toBeLessThanOrEqual(4);
  });
});
