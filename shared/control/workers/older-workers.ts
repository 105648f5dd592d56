import { PROTOCOL, type Roster } from '../../ports/roster.ts';
import { ConfigurationError } from '../../runtime/errors.ts';

/** Maximum number of workers named. */
const MOST_NAMED = 5;

/**
 * Refuses to start a run with steps while workers of an older protocol are alive. They would leave its tasks to others for ever, or
 * handle them wrongly.
 *
 * @throws ConfigurationError if one is alive
 */
export async function refuseOlderWorkers(roster: Pick<Roster, 'workers'>): Promise<void> {
  const older = (await roster.workers()).filter(({ protocol = 1 }) => protocol < PROTOCOL);
  if (older.length === 0) return;
  const named = older.slice(0, MOST_NAMED).map(({ id, version }) => `${id} (trawl ${version})`);
  const others = older.length > MOST_NAMED ? ` and ${older.length - MOST_NAMED} more` : '';
  throw new ConfigurationError([
    `a crawler with steps needs workers of protocol ${PROTOCOL}, but an older one is running: ${named.join(', ')}${others}. Stop or update it; a dead worker counts as running for 30 s`,
  ]);
}
