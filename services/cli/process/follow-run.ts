import type { RunView, RunWatcher } from '../../../shared/control/run-watcher.ts';
import { ProgressLine } from '../text/progress-line.ts';
import { ProgressSentences } from '../text/progress-sentences.ts';
import type { Telling } from '../text/teller.ts';

interface FollowOptions {
  readonly watcher: Pick<RunWatcher, 'follow'>;
  readonly telling: Telling;
  /** What the producer is at, if it is still at it. */
  readonly reading: () => string | undefined;
  /** Resolves once there is nothing more to follow. */
  readonly untilOver: (signal: AbortSignal) => Promise<void>;
}

/** Waits until a run is over, or `signal` is aborted, and tells meanwhile how far it is. */
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
