import { expect, test } from 'vitest';
import { FULL_NAP_MS, offerUntilTaken } from '../../../../shared/loops/repeated-offer.ts';
import type { OfferResult } from '../../../../shared/ports/frontier/frontier.ts';
import { settled } from '../../../support/stores/embedded.ts';
import { SteppedClock } from '../../../support/stores/stepped-clock.ts';

const TAKEN = { accepted: 2, known: 1 };
const FULL = { refused: 'full' } as const;

function setup(answers: readonly OfferResult[]) {
  const clock = new SteppedClock();
  const abort = new AbortController();
  const told: (string | boolean)[] = [];
  let offers = 0;
  const offer = async (): Promise<OfferResult> => answers[offers++] ?? FULL;
  const refused = async (): Promise<void> => void told.push('refused');
  const onWait = (isWaiting: boolean): void => void told.push(isWaiting);
  const offering = offerUntilTaken(offer, { clock, signal: abort.signal, refused, onWait });
  return { clock, abort, told, offering, offers: () => offers };
}

test('an offer is made again while the store is full, and after the run has refused it', async () => {
  const { clock, told, offering, offers } = setup([FULL, FULL, { refused: 'run' }, TAKEN]);
  await settled();
  expect([offers(), told]).toEqual([1, [true]]);
  clock.step(FULL_NAP_MS - 1);
  await settled();
  expect(offers(), 'no sooner').toBe(1);
  clock.step(1);
  await settled();
  clock.step(FULL_NAP_MS);
  expect(await offering).toEqual(TAKEN);
  expect(told).toEqual([true, false, true, false, 'refused']);
});

test('no further offer is made after a stop while the store is full', async () => {
  const { abort, told, offering, offers } = setup([]);
  await settled();
  abort.abort();
  expect(await offering).toBeUndefined();
  expect([offers(), told]).toEqual([1, [true, false]]);
});
