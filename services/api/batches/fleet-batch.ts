import { steer } from '../../../shared/control/steering/steering.ts';
import { MAX_OFFER } from '../../../shared/ports/frontier/frontier.ts';
import type { PageRecord } from '../../../shared/ports/record.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import { UnavailableError } from '../../../shared/runtime/errors.ts';
import { DAY_MS } from '../../../shared/task/durations.ts';
import { partsOf } from '../../../shared/task/parts.ts';
import { Problem } from '../http/problem.ts';
import type { ReadRequest } from '../http/read-request.ts';
import type { Link, LinkedStores } from '../link.ts';
import type { BatchInput } from './batch-request.ts';

/** Time that the results of a batch are kept. */
export const RESULTS_KEPT_MS = DAY_MS;
/** Time between two checks whether the batch has ended. */
const LOOK_EVERY_MS = 250;
/** Producer id of every batch. It is fixed, so a repeated request can continue a batch whose process died. */
const PRODUCER = 'api-batch';

interface FleetBatchOptions {
  readonly read: ReadRequest;
  readonly inputs: readonly BatchInput[];
  /** The request's body as JSON, stored so that another process can answer for the batch. */
  readonly request: string;
  readonly link: Link;
  readonly clock: Clock;
}

/**
 * A batch crawled by the fleet's workers, ahead of other tasks: a run with its own marks, which ends at its time-out. All of it can be
 * offered again at any time, be it by a process that takes over from a dead one, or to a store that lost its last second of writes.
 */
export class FleetBatch {
  readonly #options: FleetBatchOptions;
  #isOffered = false;
  #incarnation: string | undefined;
  records: ReadonlyMap<string, PageRecord> = new Map();

  constructor(options: FleetBatchOptions) {
    this.#options = options;
  }

  /**
   * Resolves when all is crawled. Aborting `over` cancels the batch and drops what still waits. Aborting `left` only ends the wait here: the
   * workers finish the batch.
   *
   * @param onBegun called once all of it is offered
   * @throws Problem if a different request opened this run
   */
  async run(over: AbortSignal, left: AbortSignal, onBegun: () => void): Promise<void> {
    const { link, clock, read } = this.#options;
    const signal = AbortSignal.any([over, left]);
    const unwatch = link.watchStore({
      restored: () => {
        this.#isOffered = false;
      },
    });
    try {
      await link.withStores((stores) => this.#offer(stores));
      onBegun();
      while (!signal.aborted && !(await this.#hasEnded())) await clock.sleep(LOOK_EVERY_MS, signal);
    } finally {
      unwatch();
    }
    if (over.aborted) await link.withStores((stores) => steer('cancel', read.run, 'the batch is over', stores));
    await this.look();
  }

  /** Reads the records stored so far. */
  async look(): Promise<void> {
    const { link, read } = this.#options;
    const kept = await link.withStores(async ({ results }) => await results?.read(read.run));
    this.records = recordsOf(kept?.records ?? new Map());
  }

  async #offer({ runs, frontier, results }: LinkedStores): Promise<void> {
    const { read, inputs, request } = this.#options;
    const { run, runOptions } = read;
    if (results === undefined) throw new UnavailableError('there is no fleet here: only local batches are crawled');
    // Set before offering: if the store is lost and restored meanwhile, `restored` resets it and all is offered again.
    this.#isOffered = true;
    const isNew = await results.open(run, request, RESULTS_KEPT_MS);
    if (!isNew && (await results.read(run))?.request !== request) throw keyTaken();
    if ((await runs.standing(run))?.hasEnded === true) return;
    const { how, incarnation } = await runs.open(run, runOptions, PRODUCER, {
      incarnation: this.#incarnation,
      mayRestore: this.#incarnation !== undefined,
    });
    if (how === 'cancelled' || how === 'lost') return;
    this.#incarnation = incarnation;
    // Inputs that share a task are offered once.
    const offers = [...new Map(inputs.flatMap((each) => ('offer' in each ? [[each.task, each.offer]] : []))).values()];
    for (const some of partsOf(offers, MAX_OFFER)) {
      const result = await frontier.offer(run, some, { incarnation, repeat: !isNew });
      if ('refused' in result && result.refused === 'full') throw new UnavailableError('the store is full');
    }
    await runs.seal(run, PRODUCER, incarnation);
  }

  /** Tells whether the batch has ended. While the store is away it counts as unfinished. */
  async #hasEnded(): Promise<boolean> {
    try {
      return await this.#options.link.withStores(async (stores) => {
        if (!this.#isOffered) await this.#offer(stores);
        const standing = await stores.runs.standing(this.#options.read.run);
        return standing === undefined || standing.hasEnded;
      });
    } catch (error: unknown) {
      if (!(error instanceof UnavailableError)) throw error;
      // The failed call might have been an offer.
      this.#isOffered = false;
      return false;
    }
  }
}

/** Returns the problem of an `Idempotency-Key` that an earlier, different request had. */
export function keyTaken(): Problem {
  return new Problem('wrong_state', 'this Idempotency-Key belongs to another request');
}

export function recordsOf(kept: ReadonlyMap<string, string>): Map<string, PageRecord> {
  return new Map([...kept].map(([task, json]) => [task, JSON.parse(json) as PageRecord]));
}
