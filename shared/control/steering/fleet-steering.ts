import type { RunOverview } from '../../ports/run-overview.ts';
import { type SteerableStores, steer } from './steering.ts';

/** The result of steering all open runs. */
export interface SteeredFleet {
  /** `paused` only if every open run was paused. */
  readonly was: 'running' | 'paused';
  readonly is: 'running' | 'paused';
  /** The JSON of steering each run alone. */
  readonly runs: readonly object[];
}

/** Pauses or resumes every open run, however many there are. Runs that begin later are not affected. */
export async function steerFleet(
  verb: 'pause' | 'resume',
  reason: string,
  stores: SteerableStores & { readonly runs: RunOverview },
): Promise<SteeredFleet> {
  const runs: object[] = [];
  let isPaused = true;
  const { open } = await stores.runs.counts();
  for (const run of await stores.runs.listOpen(open)) {
    const steered = await steer(verb, run, reason, stores);
    if (steered === undefined) continue;
    runs.push(steered.document);
    isPaused &&= steered.steered.was === 'paused';
  }
  const was = runs.length > 0 && isPaused ? 'paused' : 'running';
  return { was, is: verb === 'pause' ? 'paused' : 'running', runs };
}
