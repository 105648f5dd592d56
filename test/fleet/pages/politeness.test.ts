import { expect, onTestFinished, test } from 'vitest';
import { openFleet } from '../../support/processes/fleet.ts';
import { openWorkplace } from '../../support/processes/trawl.ts';
import { TestSite } from '../../support/site.ts';

const PER_MINUTE = 60;
const PAGES = 24;
/** Processes start slowly on a busy machine: the rate is measured from this request on. */
const STEADY_FROM = 4;
const IN_ORDER = 18;
const TRAPS = 12;
const FLAGS = [
  '--private-hosts',
  '127.0.0.0/8',
  '--robots',
  'ignore',
  '--fetch-timeout',
  '2s',
  '--host-give-up',
  '12s',
];
const RATE = ['--rate', `${PER_MINUTE}/min`];

/** Twenty hosts: eighteen healthy ones, a tarpit, and one that answers everything with 503. */
async function twentyHosts() {
  const sites = await Promise.all(
    Array.from({ length: IN_ORDER + 2 }, async () => {
      const site = new TestSite({ pages: PAGES });
      await site.start();
      onTestFinished(() => site.stop());
      return site;
    }),
  );
  const [tarpit, broken, ...inOrder] = sites as [TestSite, TestSite, ...TestSite[]];
  const traps = Array.from({ length: TRAPS }, (_, n) => tarpit.url(`/drip?ms=100&bytes=1000000&${n}`));
  const refusals = Array.from({ length: TRAPS }, (_, n) => broken.url(`/status/503?${n}`));
  const pages = inOrder.flatMap((site) => Array.from({ length: PAGES }, (_, n) => site.url(`/page/${n + 1}`)));
  return { tarpit, broken, inOrder, list: [...traps, ...refusals, ...pages].join('\n') };
}

/** Requests per minute that reached a site. */
function rateOf({ requests }: TestSite): number {
  const steady = requests.slice(STEADY_FROM);
  const minutes = ((steady.at(-1)?.at ?? 0) - (steady[0]?.at ?? 0)) / 60_000;
  return (steady.length - 1) / minutes;
}

function expectFullRate(sites: readonly TestSite[]): void {
  const slow = sites.map(rateOf).filter((rate) => rate < 0.9 * PER_MINUTE);
  expect(slow, `of ${sites.length} hosts in order, those below nine tenths of their rate`).toEqual([]);
  const fast = sites.map(rateOf).filter((rate) => rate > 1.1 * PER_MINUTE);
  expect(fast, 'those above it').toEqual([]);
}

test('a tarpit and a host that answers 503 do not slow the other 18 hosts of a fleet', {
  timeout: 180_000,
}, async () => {
  const { workplace, redis, keyPrefix } = await openFleet();
  const { tarpit, broken, inOrder, list } = await twentyHosts();
  for (let n = 0; n < 2; n++) workplace.start(['work', ...FLAGS]);
  const summary = await workplace.json(['produce', '-', '--run', 'mine', '--wait', ...RATE, ...FLAGS], list);
  expect(summary).toMatchObject({ done: IN_ORDER * PAGES, failed: 2 * TRAPS });
  expectFullRate(inOrder);
  expect(tarpit.mostOpen, 'open at the tarpit').toBeLessThanOrEqual(2);
  // Five in a row open the breaker; the others were under way by then.
  expect(tarpit.requests.length).toBeLessThanOrEqual(7);
  expect(broken.requests.length).toBeLessThanOrEqual(7);
  expect(summary.reasons.failed.host_down).toBeGreaterThanOrEqual(2 * (TRAPS - 7));
  const host = await redis.hgetall(`${keyPrefix}ratelimit:${broken.host}`);
  expect(host).toMatchObject({ opened: '1', slow_reason: 'HTTP 503', reason: expect.stringMatching(/5xx in a row$/) });
});

test('a tarpit and a host that answers 503 do not slow the other 18 hosts of one process', {
  timeout: 180_000,
}, async () => {
  const workplace = await openWorkplace();
  const { inOrder, list } = await twentyHosts();
  const summary = await workplace.json(['crawl', '-', ...RATE, ...FLAGS], list);
  expect(summary).toMatchObject({ done: IN_ORDER * PAGES, failed: 2 * TRAPS });
  expectFullRate(inOrder);
});
