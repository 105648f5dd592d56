import { expect, test } from 'vitest';
import { ChangingPages } from '../support/changing-pages.ts';
import { AT_FULL_SPEED } from '../support/full-speed.ts';
import { type Fleet, openFleet } from '../support/processes/fleet.ts';

const PAGES = 12;

async function setup() {
  const fleet = await openFleet();
  const pages = new ChangingPages(fleet.site, PAGES);
  const { workplace, site } = fleet;
  const worker = workplace.start(['work', ...AT_FULL_SPEED]);
  await worker.says(/consuming/);
  return {
    ...fleet,
    pages,
    produce: async (...flags: readonly string[]) =>
      await workplace.json(['produce', site.url('/sitemap.xml'), '--wait', ...AT_FULL_SPEED, ...flags]),
  };
}

/** Makes everything remembered about pages an hour older. */
async function age({ redis, keyPrefix }: Fleet): Promise<void> {
  for (const key of await redis.keys(`${keyPrefix}page:*`)) await redis.hincrby(key, 'fetched_at', -3_600_000);
}

const all = (status: number) => Array.from({ length: PAGES }, (_, i) => `${status} /page/${i + 1}`).toSorted();

test('a second incremental run fetches only pages with a newer lastmod in the sitemap', async () => {
  const { workplace, pages, produce } = await setup();
  expect(await produce('--incremental')).toMatchObject({ discovered: PAGES, done: PAGES, bytesSaved: 0 });
  expect(pages.takeAnswers()).toEqual(all(200));
  pages.change(3, { lastmod: new Date().toISOString() });
  const second = await produce('--incremental');
  expect(second).toMatchObject({ discovered: 1, done: 1, duplicate: PAGES - 1 });
  expect(pages.takeAnswers()).toEqual(['200 /page/3']);
  const [record] = await workplace.records(second.run);
  expect(record).toMatchObject({ url: expect.stringContaining('/page/3'), fromCache: false });
  expect(record).not.toHaveProperty('unchanged');
  const third = await workplace.run(['status', (await produce('--incremental')).run]);
  expect(third.stdout).toContain(`${PAGES} known, none due again`);
  expect(pages.takeAnswers()).toEqual([]);
});

test('--recrawl-after sends conditional requests for all pages that are old enough, and reports the bytes saved', async () => {
  const fleet = await setup();
  const { workplace, pages, produce } = fleet;
  await produce('--incremental');
  pages.takeAnswers();
  expect(await produce('--recrawl-after', '10min')).toMatchObject({ discovered: 0, duplicate: PAGES });
  await age(fleet);
  pages.change(1);
  pages.change(2, { sameContent: true });
  const again = await produce('--recrawl-after', '10min');
  const saved = Array.from({ length: PAGES - 2 }, (_, i) => pages.bytes(i + 3)).reduce((sum, bytes) => sum + bytes, 0);
  expect(again).toMatchObject({
    done: 2,
    skipped: PAGES - 2,
    reasons: { skipped: { not_modified: PAGES - 2 } },
    bytes: pages.bytes(1) + pages.bytes(2),
    bytesSaved: saved,
  });
  const same = all(304).filter((line) => !/page\/[12]$/.test(line));
  expect(pages.takeAnswers()).toEqual(['200 /page/1', '200 /page/2', ...same].toSorted());
  const records = await workplace.records(again.run);
  expect(records.map(({ title, unchanged }) => [title, unchanged]).toSorted()).toEqual([
    ['Page 1', undefined],
    ['Page 2', true],
  ]);
  const status = await workplace.json(['status', again.run]);
  expect(status).toMatchObject({ bytesSaved: saved, incremental: true, recrawlAfterSeconds: 600 });
  const { stdout } = await workplace.run(['status', again.run]);
  expect(stdout).toMatch(/Not modified: .* did not have to be fetched/);
  expect(stdout).toContain('changed, or 10 min after their last fetch');
});

test('with two incremental runs at once, each changed page is fetched once, by the run that takes it first', async () => {
  const { pages, produce } = await setup();
  await produce('--incremental');
  pages.takeAnswers();
  const lastmod = new Date().toISOString();
  for (let n = 1; n <= PAGES; n++) pages.change(n, { lastmod });
  const [one, two] = await Promise.all([produce('--incremental'), produce('--incremental')]);
  expect([one.done + two.done, one.discovered + two.discovered]).toEqual([PAGES, PAGES]);
  expect(pages.takeAnswers()).toEqual(all(200));
});

test('a replay of a failed page of an incremental run is incremental too, and sends a conditional request', async () => {
  const { workplace, site, pages, produce } = await setup();
  await produce('--incremental');
  pages.takeAnswers();
  const answer = pages.handler(5);
  site.on('/page/5', (_, response) => response.writeHead(500).end());
  for (const n of [5, 6]) pages.say(n, new Date().toISOString());
  const second = await produce('--incremental', '--max-attempts', '1');
  expect(second).toMatchObject({ discovered: 2, failed: 1, skipped: 1 });
  expect(pages.takeAnswers()).toEqual(['304 /page/6']);
  site.on('/page/5', answer);
  const { run, runs } = await workplace.json(['dlq', 'replay']);
  expect(runs).toMatchObject([{ accepted: 1, options: { incremental: true, recrawlAfterMs: 0 } }]);
  await expect.poll(async () => (await workplace.json(['status', run])).state).toBe('finished');
  expect(await workplace.json(['status', run])).toMatchObject({ skipped: 1, bytesSaved: pages.bytes(5) });
  expect(pages.takeAnswers()).toEqual(['304 /page/5']);
});

test('a page is fetched in full when the run asks for different content than the last one', async () => {
  const fleet = await setup();
  const { pages, produce } = fleet;
  await produce('--incremental');
  pages.takeAnswers();
  expect(await produce('--incremental', '--fresh', '--content', 'text')).toMatchObject({ done: PAGES });
  expect(pages.takeAnswers()).toEqual(all(200));
  expect(await produce('--incremental', '--fresh', '--content', 'text')).toMatchObject({ done: 0, skipped: PAGES });
  expect(pages.takeAnswers()).toEqual(all(304));
});
