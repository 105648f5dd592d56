import { MAX_OFFER, type Offer, type OfferResult } from '../../../shared/ports/frontier/frontier.ts';

/** Offers as many tasks as there are, in as few calls as it takes. Returns what they came to together; throws if one is refused. */
export async function offerAll(
  frontier: { offer(run: string, offers: readonly Offer[]): Promise<OfferResult> },
  run: string,
  offers: readonly Offer[],
): Promise<{ accepted: number; known: number }> {
  const sum = { accepted: 0, known: 0 };
  for (let at = 0; at < offers.length; at += MAX_OFFER) {
    const result = await frontier.offer(run, offers.slice(at, at + MAX_OFFER));
    if ('refused' in result) throw new Error(`the offer is refused: ${result.refused}`);
    sum.accepted += result.accepted;
    sum.known += result.known;
  }
  return sum;
}
