import { counted } from '../../shared/control/format.ts';
import { haveNothingToDo } from '../../shared/control/workers/idle-workers.ts';
import type { QueuedLeases } from '../../shared/ports/frontier/queued-leases.ts';
import { BEAT_EVERY_MS, type LiveWorker, type Roster } from '../../shared/ports/roster.ts';
import type { RunOverview, RunTally } from '../../shared/ports/run-overview.ts';
import type { QueueDepths, QueueInspector } from '../../shared/ports/transport.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import { SECOND_MS } from '../../shared/task/durations.ts';

/** Time between two looks of a worker; in a larger fleet a second for each worker, so that the fleet looks once a second at most. */
const LOOK_EVERY_MS = 30 * SECOND_MS;
/** Maximum open runs that are looked at. */
const MOST_OPEN_RUNS = 10_000;
/** A worker that has beaten since then was alive a moment ago, and reads its queues unless it has just been killed. */
const FRESH_MS = BEAT_EVERY_MS + SECOND_MS;
const SAME_BROKER =
  'all processes of a fleet need the same RABBITMQ_URL (virtual host) and QUEUE_PREFIX, as they have the same Redis';
const SAME_REDIS = 'all processes of a fleet need the same REDIS_URL and KEY_PREFIX, as they have the same queues';

interface LostDeliveriesOptions {
  readonly roster: Pick<Roster, 'workers'>;
  readonly runs: Pick<RunOverview, 'tallies'>;
  readonly frontier: QueuedLeases;
  readonly transport: Pick<QueueInspector, 'depths'>;
  readonly clock: Pick<Clock, 'monotonic'>;
  /** Does this process have any delivery in hand? If so it doesn't look: it can't be that nobody has anything to do. */
  readonly isBusy: () => boolean;
}

/**
 * Returns the open runs with tasks in flight that neither the queues nor any live worker has: their messages were purged or lost, or the
 * store has lost the end of these tasks with its last second.
 */
export async function missingDeliveries(
  workers: readonly LiveWorker[],
  { runs, transport }: Pick<LostDeliveriesOptions, 'runs' | 'transport'>,
): Promise<readonly RunTally[]> {
  if (!haveNothingToDo(workers, Number.POSITIVE_INFINITY)) return [];
  const tallies = await runs.tallies(MOST_OPEN_RUNS);
  const missing = tallies.filter(
    ({ inFlight, startedAt, readAt }) => inFlight > 0 && haveNothingToDo(workers, readAt - startedAt),
  );
  if (missing.length === 0) return [];
  const { priority, normal } = await transport.depths();
  return priority.ready + normal.ready > 0 ? [] : missing;
}

/**
 * Says that the processes that read the queues are not the live workers: some workers are connected elsewhere, or some readers report to
 * another store. Neither loses a URL, but dead letters are in several places, and readers of another fleet take deliveries that are
 * missing here until their leases end. A worker that has just started, or was away from the store, is not in both lists yet.
 */
export async function strayReaders(
  workers: readonly LiveWorker[],
  transport: Pick<QueueInspector, 'depths'>,
): Promise<string | undefined> {
  const depths = await transport.depths();
  const ready = depths.priority.ready + depths.normal.ready;
  const readers = readersOf(depths);
  const consuming = workers.filter(({ state }) => state === 'consuming');
  if (consuming.length > 0 && ready > 0 && readers === 0)
    return `has ${counted(ready, 'delivery', 'deliveries')} ready, and none of ${counted(consuming.length, 'worker')} reads these queues: ${SAME_BROKER}`;
  const fresh = consuming.filter(({ silentMs }) => silentMs <= FRESH_MS).length;
  if (readers < fresh)
    return `has queues that only ${readers} of ${counted(fresh, 'live worker')} read. If that lasts: ${SAME_BROKER}`;
  if (readers > workers.length)
    return `has queues that ${counted(readers, 'process reads', 'processes read')}, and ${counted(workers.length, 'worker is', 'workers are')} alive in this Redis. If that lasts: ${SAME_REDIS}`;
  return undefined;
}

/** Each worker reads both queues. */
function readersOf({ priority, normal }: QueueDepths): number {
  return Math.max(priority.consumers, normal.consumers);
}

/**
 * Puts back tasks whose deliveries are lost (see {@link missingDeliveries}), rather than waiting for their leases, which outlast the queue's
 * TTL. A run counts once nothing in it has changed between two looks: its tasks aren't merely on their way. If a delivery still
 * exists, it is stale from then on, and gets dropped.
 */
export class LostDeliveries {
  readonly #options: LostDeliveriesOptions;
  #nextLookAt: number;
  /** The counters at the last look of runs whose tasks were missing. */
  #before: ReadonlyMap<string, string> = new Map();

  constructor(options: LostDeliveriesOptions) {
    this.#options = options;
    this.#nextLookAt = options.clock.monotonic() + LOOK_EVERY_MS;
  }

  /** Looks, if it is time to, and returns how many tasks were put back. */
  async putBack(): Promise<number> {
    const { clock, isBusy, roster, frontier } = this.#options;
    const before = this.#before;
    const now = clock.monotonic();
    if (!isBusy() && now < this.#nextLookAt) return 0;
    // A look that finds work, or fails, starts anew.
    this.#before = new Map();
    if (isBusy()) return 0;
    this.#nextLookAt = now + LOOK_EVERY_MS;
    const workers = await roster.workers();
    this.#nextLookAt = now + Math.max(LOOK_EVERY_MS, workers.length * SECOND_MS);
    const missing = await missingDeliveries(workers, this.#options);
    this.#before = new Map(missing.map((tally) => [tally.run, countersOf(tally)]));
    let tasks = 0;
    for (const { run } of missing)
      if (before.get(run) === this.#before.get(run)) tasks += await endQueued(frontier, run);
    return tasks;
  }
}

/** Ends the lease of every queued task of a run, and returns how many there were. */
export async function endQueued(frontier: QueuedLeases, run: string): Promise<number> {
  let ended = 0;
  let next: string | undefined;
  do {
    const part = await frontier.endQueued(run, next);
    ended += part.ended;
    next = part.next;
  } while (next !== undefined);
  return ended;
}

function countersOf({ startedAt, waiting, inFlight, done, skipped, failed }: RunTally): string {
  return [startedAt, waiting, inFlight, done, skipped, failed].join();
}
