import type { OfferResult } from '../ports/frontier/frontier.ts';
import type { Clock } from '../runtime/clock.ts';

/** Pause before an offer to a full store is repeated. */
export const FULL_NAP_MS = 1_000;

interface OfferingOptions {
  readonly clock: Clock;
  /** Ends the wait for a full store. */
  readonly signal: AbortSignal;
  /** Called when the run or the parent refuses. Resolves when the offer can be made again; throws if it can't. */
  readonly refused: () => Promise<void>;
  /** Called when a wait for a full store begins and when it is over. */
  readonly onWait?: (isWaiting: boolean) => void;
}

/** Repeats an offer until the frontier takes it. Returns nothing if `signal` was aborted while the store was full. */
export async function offerUntilTaken(
  offer: () => Promise<OfferResult>,
  { clock, signal, refused, onWait }: OfferingOptions,
): Promise<Exclude<OfferResult, { refused: unknown }> | undefined> {
  for (;;) {
    const result = await offer();
    if (!('refused' in result)) return result;
    if (result.refused !== 'full') {
      await refused();
      continue;
    }
    onWait?.(true);
    await clock.sleep(FULL_NAP_MS, signal);
    onWait?.(false);
    if (signal.aborted) return undefined;
  }
}
