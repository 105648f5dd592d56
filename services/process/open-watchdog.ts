import { Watchdog } from '../../shared/crawler/watchdog/watchdog.ts';
import type { Settings } from '../../shared/settings/table.ts';

/** Slower than a step may be by so much, and a process is stuck. */
const STUCK_MS = 10_000;

/**
 * What ends this process when a function of a crawler does not let go of it.
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
