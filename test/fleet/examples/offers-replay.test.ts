import { dirname } from 'node:path';
import { describe, expect, test } from 'vitest';
import { AT_FULL_SPEED } from '../../support/full-speed.ts';
import { CUSTOMER } from '../../support/practice/account.ts';
import { example, openPractice, servePractice } from '../../support/practice/open.ts';
import { allProducts } from '../../support/practice/shop.ts';
import { openFleet } from '../../support/processes/fleet.ts';
import { openWorkplace, type Workplace } from '../../support/processes/trawl.ts';
import type { TestSite } from '../../support/site.ts';

const OFFERS = ['--crawler', 'offers', '--max-attempts', '1', ...AT_FULL_SPEED];
/** The pages that fail. A product without its price gets no offer; one without its reviews gets an offer that says so. */
const BROKEN = ['/product/4/price', '/product/5/reviews'];
/** Everything that a replay of their groups requests. */
const ASKED = [4, 5].flatMap((n) => [`/product/${n}`, `/product/${n}/price`, `/product/${n}/reviews`]);
const WHOLE = [4, 5].map((n) => {
  const { name, price, reviews } = allProducts()[n - 1] as ReturnType<typeof allProducts>[number];
  return { name, price, stars: reviews.map(({ stars }) => stars), missing: 0 };
});

function breakPages(site: TestSite): void {
  for (const path of BROKEN) site.on(path, (_, response) => void response.writeHead(500).end());
}

/** The paths requested after the first `first` requests. */
function askedSince({ requests }: TestSite, first: number): string[] {
  return requests
    .slice(first)
    .map(({ path }) => path)
    .toSorted();
}

/** The recorded offers of the two products. */
async function offersOf(workplace: Workplace, run: string): Promise<unknown[]> {
  const names = WHOLE.map(({ name }) => name);
  const records = await workplace.records(run, '--step', 'offer');
  return records
    .map(({ data }) => data as { name: string })
    .filter(({ name }) => names.includes(name))
    .toSorted((a, b) => a.name.localeCompare(b.name));
}

describe('a replay of groups whose members failed', () => {
  test('in a fleet crawls each owner again in a new run, and makes its whole record', async () => {
    const { workplace, site } = await openFleet({}, { CRAWLERS_DIR: dirname(example('offers')), ...CUSTOMER });
    servePractice(site);
    breakPages(site);
    const worker = workplace.start(['work', ...AT_FULL_SPEED]);
    await worker.says(/consuming/);
    const produced = await workplace.json(['produce', site.url('/all/'), '--run', 'mine', '--wait', ...OFFERS]);
    expect(produced).toMatchObject({ failed: 3, openGroups: 0, steps: { offer: { done: 39, failed: 1 } } });
    const letters = await workplace.json(['dlq', 'list']);
    expect(letters.map(({ owner }: { owner: { url: string } }) => owner.url).toSorted()).toEqual(
      [4, 4, 5].map((n) => site.url(`/product/${n}`)),
    );
    const dry = await workplace.run(['dlq', 'replay', '--dry-run']);
    expect(dry.stdout).toContain('3 letters of 2 owners: each would be crawled again, with its group');
    const asked = site.requests.length;

    servePractice(site);
    const replayed = await workplace.json(['dlq', 'replay']);
    expect(replayed).toMatchObject({
      ...{ run: 'mine-replay-1', letters: 3, malformed: 0 },
      runs: [{ ofGroups: 3, owners: 2, accepted: 2, known: 0, options: { dedup: 'ever' } }],
    });
    await expect
      .poll(async () => await workplace.json(['status', replayed.run]))
      .toMatchObject({ state: 'finished', discovered: 8, done: 8, openGroups: 0 });
    expect(await offersOf(workplace, replayed.run)).toEqual(WHOLE);
    expect(askedSince(site, asked)).toEqual(ASKED.toSorted());
    expect(await workplace.json(['dlq', 'list'])).toEqual([]);
    worker.signal('SIGTERM');
    await worker.ended;
  });

  test('in one process crawls each owner again in the same run, which then has whole records and a whole report', async () => {
    const [site, workplace] = [await openPractice(), await openWorkplace({ CRAWLERS_DIR: dirname(example('offers')) })];
    breakPages(site);
    const flags = ['--run', 'mine', ...OFFERS];
    expect(await workplace.json(['crawl', site.url('/all/'), ...flags])).toMatchObject({ failed: 3 });
    const { stdout } = await workplace.run(['dlq', 'replay', '--run', 'mine']);
    expect(stdout).toBe(
      'Run mine: 3 letters replayed: 2 wait again, 1 known already\n' +
        '  3 letters of 2 owners: each is crawled again, with its group\n' +
        '  No process is crawling it. Resume it with: trawl crawl --resume mine\n',
    );
    const asked = site.requests.length;
    servePractice(site);
    expect(await workplace.json(['crawl', '--resume', 'mine'])).toMatchObject({
      ...{ failed: 0, openGroups: 0 },
      steps: { product: { done: 40 }, offer: { discovered: 40, done: 40 } },
    });
    expect(await offersOf(workplace, 'mine')).toEqual(WHOLE);
    expect(askedSince(site, asked)).toEqual(ASKED.toSorted());
    const [report] = await workplace.records('mine', '--step', 'report');
    const sum = allProducts().reduce((all, { price }) => all + price, 0);
    expect(report?.data).toEqual({ offers: 40, sum });
  });
});
