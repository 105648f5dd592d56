import type { RunProgress } from '../ports/runs.ts';
import { lostProducers } from './bottleneck.ts';

/** The facts about a run besides its counters: whether it is sealed or stopped, why it is paused, and its producers, with those that are lost. */
export function runJson({ pauseReason, sealed, stoppedAt, producers }: RunProgress): object {
  const { open, lost, silent } = producers;
  const lostProducers = silent.map(({ id, silentMs }) => ({ id, silentSeconds: Math.round(silentMs / 1_000) }));
  return {
    sealed,
    pauseReason: pauseReason ?? null,
    // Only local runs can be known to be crawled by nobody.
    ...(stoppedAt === undefined ? {} : { stoppedAt: new Date(stoppedAt).toISOString() }),
    producers: { open, lost },
    lostProducers,
  };
}

export function producersLines(progress: RunProgress): string[] {
  const { open, lost } = progress.producers;
  if (lost === 0) return [open > 0 ? `Producers: ${open} at work` : 'Producers: none yet'];
  return [`Producers: ${open} at work, ${lost} lost`, `  ${lostProducers(progress)}`];
}
