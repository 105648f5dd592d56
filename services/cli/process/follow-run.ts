import type { RunView, RunWatcher } from '../../../shared/control/run-watcher.ts';
import { ProgressLine } from '../text/progress-line.ts';
import { ProgressSentences } from '../text/progress-sentences.ts';
import type { Telling } from '../text/teller.ts';

interface FollowOptions {
  readonly watcher: Pick<RunWatcher, 'follow'>;
  readonly telling: Telling;
  /** Returns a note on the producer's progress, until all seeds are offered. */
  readonly reading: () => string | undefined;
  /** Resolves once there is nothing left to follow. */
  readonly untilOver: (signal: AbortSignal) => Promise<void>;
}

/** Reports a run's progress until `untilOver` resolves or `signal` is aborted. */
export async function followRun(options: FollowOptions, signal: AbortSignal): Promise<void> {
  const { watcher, telling, reading, untilOver } = options;
  if (telling === 'nothing') return await untilOver(signal);
  const teller = telling === 'line' ? new ProgressLine() : new ProgressSentences();
  const over = new AbortController();
  const stop = AbortSignal.any([signal, over.signal]);
  const fail = (error: unknown): never => {
    over.abort();
    throw error;
  };
  const show = (view: RunView): void => {
    if (!stop.aborted) teller.show(view, reading());
  };
  try {
    await Promise.all([
      watcher.follow(teller.everyMs, show, stop).catch(fail),
      untilOver(stop).finally(() => over.abort()),
    ]);
  } finally {
    teller.clear();
  }
}
