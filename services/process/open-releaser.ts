import type { Stores } from '../../shared/backends/backends.ts';
import { Releaser } from '../../shared/loops/releaser.ts';
import type { RunOptions } from '../../shared/ports/runs.ts';
import type { Sink } from '../../shared/ports/sink.ts';
import type { Transport } from '../../shared/ports/transport.ts';
import { systemClock } from '../../shared/runtime/clock.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import type { Settings } from '../../shared/settings/table.ts';
import { openFailureLines } from './open-worker.ts';

interface OpenReleaserOptions {
  readonly settings: Settings;
  readonly stores: Stores;
  readonly transport: Transport;
  /** Gets a record for each task that fails before a worker has it. */
  readonly sink: Sink;
  /** Options for runs that the store doesn't know. */
  readonly defaults: RunOptions;
  /** This process's id. */
  readonly worker: string;
  readonly log: Logger;
}

/** Returns a releaser made of its parts, not started. Every worker, producer and crawl has one. */
export function openReleaser({ settings, stores, transport, log, ...parts }: OpenReleaserOptions): Releaser {
  const { frontier, roster } = stores;
  const failures = openFailureLines({ stores, ...parts });
  return new Releaser({
    frontier,
    transport,
    roster,
    clock: systemClock,
    log,
    onFailure: (task, reason) => failures.ofReleased(task, reason),
    window: settings.releaseWindow,
  });
}
