import { MAX_OFFER, type Offer, type OfferResult } from '../../../shared/ports/frontier/frontier.ts';
import { partsOf } from '../../../shared/task/parts.ts';

/** Offers any number of tasks in as few calls as possible. Returns the summed results. Throws if a call is refused. */
export async function offerAll(
  frontier: { offer(run: string, offers: readonly Offer[]): Promise<OfferResult> },
  run: string,
  offers: readonly Offer[],
): Promise<{ accepted: number; known: number }> {
  const sum = { accepted: 0, known: 0 };
  for (const some of partsOf(offers, MAX_OFFER)) {
    const result = await frontier.offer(run, some);
    if ('refused' in result) throw new Error(`the offer is refused: ${result.refused}`);
    sum.accepted += result.accepted;
    sum.known += result.known;
  }
  return sum;
}
