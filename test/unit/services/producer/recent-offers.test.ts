import { expect, test } from 'vitest';
import { offerOfSeed, type Seeded } from '../../../../services/producer/offer.ts';
import { RecentOffers } from '../../../../services/producer/recent-offers.ts';
import { SteppedClock } from '../../../support/stores/stepped-clock.ts';

const offers = (...texts: readonly string[]) => texts.map((loc) => offerOfSeed({ loc }, { rules: [], urlKey: [] }));
const locs = (recent: RecentOffers) => recent.list().map((batch) => batch.map(({ loc }) => loc));

test('offers are kept for three seconds', () => {
  const clock = new SteppedClock();
  const recent = new RecentOffers(clock);
  recent.keep(offers('https://example.com/1', 'no url', 'https://example.com/2'));
  clock.step(3_000);
  recent.keep(offers('https://example.com/3'));
  expect(locs(recent)).toEqual([
    ['https://example.com/1', 'https://example.com/2', 'no url'],
    ['https://example.com/3'],
  ]);
  clock.step(1);
  recent.keep(offers('no url either'));
  expect(locs(recent)).toEqual([['https://example.com/3'], ['no url either']]);
});

test('the change time and news flag of a sitemap entry are kept with its URL', () => {
  const recent = new RecentOffers(new SteppedClock());
  const [changedAt, isNews] = [1_764_000_000_000, true] as const;
  const entries: Seeded[] = [
    { loc: 'https://example.com/1', changedAt },
    { loc: 'https://example.com/2' },
    { loc: 'https://example.com/3', changedAt, isNews },
    { loc: 'https://example.com/4', isNews },
  ];
  recent.keep(entries.map((entry) => offerOfSeed(entry, { rules: [], urlKey: [] })));
  expect(recent.list()).toEqual([entries]);
});

test('a reused buffer holds nothing of its earlier content', () => {
  const clock = new SteppedClock();
  const recent = new RecentOffers(clock);
  for (const length of [100, 10, 50, 200, 1]) {
    recent.keep(offers(`https://example.com/${'x'.repeat(length)}`));
    expect(locs(recent).at(-1)).toEqual([`https://example.com/${'x'.repeat(length)}`]);
    clock.step(4_000);
  }
  expect(recent.list()).toHaveLength(1);
});

test('an article of a news sitemap is offered to the priority queue again', () => {
  const recent = new RecentOffers(new SteppedClock());
  const rules = { rules: [], urlKey: [] };
  recent.keep([offerOfSeed({ loc: 'https://example.com/1', isNews: true }, rules), ...offers('https://example.com/2')]);
  const again = recent.list().flatMap((batch) => batch.map((entry) => offerOfSeed(entry, rules)));
  expect(again).toMatchObject([
    { url: 'https://example.com/1', queue: 'priority' },
    { url: 'https://example.com/2', queue: 'normal' },
  ]);
});
