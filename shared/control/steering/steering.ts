import type { Frontier } from '../../ports/frontier/frontier.ts';
import type { Runs, Steered } from '../../ports/runs.ts';
import { type SteeringOutcome, type SteerVerb, steeringOutcome } from './steering-outcome.ts';

/** The default reason of a pause. */
export const BY_HAND = 'by hand';

/** The parts of the stores that steering needs. */
export interface SteerableStores {
  readonly runs: Runs;
  readonly frontier: Pick<Frontier, 'drain'>;
  /** See `LocalStores.finishCancelled`; a fleet's runs need none. */
  readonly finishCancelled?: (run: string) => Promise<void>;
}

/** The result of steering a run: in words, and as JSON for scripts. */
export interface SteeredRun extends SteeringOutcome {
  readonly steered: Steered;
  readonly document: object;
}

/**
 * Steers a run; returns undefined if the store doesn't know it. A cancelled run's waiting tasks are dropped before this resolves.
 *
 * @param onDropped called with the number of further tasks dropped, and the number that waited at first
 */
export async function steer(
  verb: SteerVerb,
  run: string,
  reason: string,
  stores: SteerableStores,
  onDropped: (more: number, waited: number) => void = () => {},
): Promise<SteeredRun | undefined> {
  const { runs, frontier } = stores;
  const before = await runs.progress(run);
  const steered = await steerRun(verb, run, reason, runs);
  // Only dropping the waiting tasks takes long. Workers drop some too.
  if (verb === 'cancel') {
    for (let more = await frontier.drain(); more > 0; more = await frontier.drain())
      onDropped(more, before?.waiting ?? 0);
    await stores.finishCancelled?.(run);
  }
  const after = await runs.progress(run);
  if (before === undefined || steered === undefined || after === undefined) return undefined;
  const { waiting, inFlight, cancelled, sealed, pauseReason = null } = after;
  const { was, is } = steered;
  const document = { run, was, is, wasSealed: before.sealed, sealed, waiting, inFlight, cancelled, pauseReason };
  return { ...steeringOutcome(verb, steered, before, after), steered, document };
}

function steerRun(verb: SteerVerb, run: string, reason: string, runs: Runs): Promise<Steered | undefined> {
  switch (verb) {
    case 'pause':
      return runs.pause(run, reason);
    case 'resume':
      return runs.resume(run);
    case 'cancel':
      return runs.cancel(run);
    case 'seal':
      return runs.seal(run);
  }
}
