import { expect, test } from 'vitest';
import { Allowance } from '../../../../services/api/access/allowance.ts';
import { SharedRead } from '../../../../services/api/shared-read.ts';
import { offerOfSeed } from '../../../../services/producer/offer.ts';
import { RecentOffers } from '../../../../services/producer/recent-offers.ts';
import { RecentRead } from '../../../../shared/control/recent-read.ts';
import { Rotation } from '../../../../shared/fetchers/proxies/rotation.ts';
import { ExpiringCache } from '../../../../shared/runtime/collections/expiring-cache.ts';
import { DAY_MS, MINUTE_MS } from '../../../../shared/task/durations.ts';
import { parseProxies } from '../../../../shared/task/host/proxy-list.ts';
import { settled } from '../../../support/stores/embedded.ts';
import { SteppedClock } from '../../../support/stores/stepped-clock.ts';

/** Something that holds for at most a minute, and a check whether it still does. */
type Begin = (clock: SteppedClock) => () => Promise<boolean> | boolean;

const HELD: Readonly<Record<string, Begin>> = {
  'what is kept for a while': (clock) => {
    const cache = new ExpiringCache<string>({ clock, max: 3 });
    cache.keep('a', 'kept', MINUTE_MS);
    return () => cache.get('a') !== undefined;
  },
  'a proxy that rests': (clock) => {
    const proxies = parseProxies(['http://a']);
    if ('problems' in proxies) throw new Error(proxies.problems.join());
    const [proxy] = proxies;
    if (proxy === undefined) throw new Error('there is no proxy');
    const rotation = new Rotation({ proxies, clock });
    rotation.failed(proxy, 'refused');
    return () => rotation.rests(proxy);
  },
  'what was read for everybody': (clock) => {
    let reads = 0;
    const read = new RecentRead(async () => ++reads, { clock, forMs: MINUTE_MS });
    void read.get();
    return async () => (await read.get()) === 1;
  },
  'a costly read': (clock) => {
    let reads = 0;
    const read = new SharedRead<number>(clock, () => MINUTE_MS);
    void read.get(async () => ++reads);
    return async () => (await read.get(async () => ++reads)) === 1;
  },
  'a caller who has used up its tries': (clock) => {
    const allowance = new Allowance(1 / 60, 1, clock);
    allowance.take('a');
    return () => allowance.waitMs('a') > 0;
  },
};

test.each(Object.keys(HELD).flatMap((what) => [0, -DAY_MS, DAY_MS].map((byMs) => ({ what, byMs }))))(
  '$what, and the machine’s clock is set by $byMs ms: it holds for a minute',
  async ({ what, byMs }) => {
    const clock = new SteppedClock();
    const holds = HELD[what]?.(clock);
    await settled();
    clock.step(MINUTE_MS - 1_000);
    clock.set(byMs);
    const before = await holds?.();
    clock.step(1_000);
    expect([before, await holds?.()]).toEqual([true, false]);
  },
);

test.each([-DAY_MS, DAY_MS])('a clock that is set by %i ms: offers of the last three seconds are kept', (byMs) => {
  const clock = new SteppedClock();
  const recent = new RecentOffers(clock);
  for (const n of [1, 2, 3, 4, 5, 6]) {
    if (n === 3) clock.set(byMs);
    recent.keep([offerOfSeed({ loc: `https://a.test/${n}` }, { rules: [], urlKey: [] })]);
    clock.step(1_000);
  }
  expect(recent.list().flat()).toEqual([3, 4, 5, 6].map((n) => ({ loc: `https://a.test/${n}` })));
});
