import { expect, test } from 'vitest';
import { offerOf } from '../../../../services/producer/offer.ts';
import { RecentOffers } from '../../../../services/producer/recent-offers.ts';
import { SteppedClock } from '../../../support/stepped-clock.ts';

const offers = (...texts: readonly string[]) => texts.map((text) => offerOf(text, []));

test('offers are kept for three seconds', () => {
  const clock = new SteppedClock();
  const recent = new RecentOffers(clock);
  recent.keep(offers('https://example.com/1', 'no url', 'https://example.com/2'));
  clock.step(3_000);
  recent.keep(offers('https://example.com/3'));
  expect(recent.list()).toEqual([
    ['https://example.com/1', 'https://example.com/2', 'no url'],
    ['https://example.com/3'],
  ]);
  clock.step(1);
  recent.keep(offers('no url either'));
  expect(recent.list()).toEqual([['https://example.com/3'], ['no url either']]);
});

test('a buffer that is used again holds nothing of what it held before', () => {
  const clock = new SteppedClock();
  const recent = new RecentOffers(clock);
  for (const length of [100, 10, 50, 200, 1]) {
    recent.keep(offers(`https://example.com/${'x'.repeat(length)}`));
    expect(recent.list().at(-1)).toEqual([`https://example.com/${'x'.repeat(length)}`]);
    clock.step(4_000);
  }
  expect(recent.list()).toHaveLength(1);
});
