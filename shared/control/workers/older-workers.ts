import { PROTOCOL, type Roster } from '../../ports/roster.ts';
import { ConfigurationError } from '../../runtime/errors.ts';

/** Workers named at most. */
const MOST_NAMED = 5;

/**
 * Workers of an older protocol would leave such a run's tasks to others for ever, or get them wrong.
 *
 * @throws ConfigurationError if one is alive
 */
export async function refuseOlderWorkers(roster: Pick<Roster, 'workers'>): Promise<void> {
  const older = (await roster.workers()).filter(({ protocol = 1 }) => protocol < PROTOCOL);
  if (older.length === 0) return;
  const named = older.slice(0, MOST_NAMED).map(({ id, version }) => `${id} (trawl ${version})`);
  const others = older.length > MOST_NAMED ? ` and ${older.length - MOST_NAMED} more` : '';
  throw new ConfigurationError([
    `a crawler with steps needs workers of protocol ${PROTOCOL}, and an older one is at work: ${named.join(', ')}${others}. Stop it, or update it; a worker that died counts for 30 s`,
  ]);
}
