import { Watchdog } from '../../shared/crawler/watchdog/watchdog.ts';
import type { Settings } from '../../shared/settings/table.ts';

/** Time beyond the step's limit after which a process counts as stuck. */
const STUCK_MS = 10_000;

/**
 * Returns a watchdog that ends this process when a crawler's function blocks it.
 *
 * @param exitCode see {@link Watchdog}
 */
export function openWatchdog(
  { stepTimeout }: Pick<Settings, 'stepTimeout'>,
  lastWords: () => readonly string[],
  exitCode?: number,
): Watchdog {
  const ends = exitCode === undefined ? {} : { exitCode };
  return new Watchdog({ stuckAfterMs: stepTimeout + STUCK_MS, lastWords, ...ends });
}
