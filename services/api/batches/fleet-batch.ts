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

/** How long the results of a batch are kept. */
export const RESULTS_KEPT_MS = DAY_MS;
/** Between two looks whether it has ended. */
const LOOK_EVERY_MS = 250;
/** The producer of every batch: who repeats a request goes on where a process that died left it. */
const PRODUCER = 'api-batch';

interface FleetBatchOptions {
  readonly read: ReadRequest;
  readonly inputs: readonly BatchInput[];
  /** What was asked, as JSON: another process can answer for it. */
  readonly request: string;
  readonly link: Link;
  readonly clock: Clock;
}

/**
 * A batch crawled by the fleet's workers, before other tasks: a run with marks of its own, which ends at its time-out. All of it can be
 * offered again at any time: by a process that takes it over from one that died, and to a store that came back without its last second.
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
   * Resolves when all is crawled, or once `over` is aborted: what waits then is dropped. When `left` is aborted, nobody waits here any
   * more, and the workers finish it.
   *
   * @throws Problem if another request opened it
   */
  async run(over: AbortSignal, left: AbortSignal): Promise<void> {
    const { link, clock, read } = this.#options;
    const signal = AbortSignal.any([over, left]);
    const unwatch = link.watchStore({
      restored: () => {
        this.#isOffered = false;
      },
    });
    try {
      await link.withStores((stores) => this.#offer(stores));
      while (!signal.aborted && !(await this.#hasEnded())) await clock.sleep(LOOK_EVERY_MS, signal);
    } finally {
      unwatch();
    }
    if (over.aborted) await link.withStores((stores) => steer('cancel', read.run, 'the batch is over', stores));
    await this.look();
  }

  /** Reads the records that are there by now. */
  async look(): Promise<void> {
    const { link, read } = this.#options;
    const kept = await link.withStores(async ({ results }) => await results?.read(read.run));
    this.records = recordsOf(kept?.records ?? new Map());
  }

  async #offer({ runs, frontier, results }: LinkedStores): Promise<void> {
    const { read, inputs, request } = this.#options;
    const { run, runOptions } = read;
    if (results === undefined) throw new UnavailableError('there is no fleet here: only local batches are crawled');
    // What comes back meanwhile is offered to again.
    this.#isOffered = true;
    const isNew = await results.open(run, request, RESULTS_KEPT_MS);
    if (!isNew && (await results.read(run))?.request !== request)
      throw new Problem('wrong_state', 'another request had this Idempotency-Key');
    if ((await runs.standing(run))?.hasEnded === true) return;
    const { how, incarnation } = await runs.open(run, runOptions, PRODUCER, {
      incarnation: this.#incarnation,
      mayRestore: this.#incarnation !== undefined,
    });
    if (how === 'cancelled' || how === 'lost') return;
    this.#incarnation = incarnation;
    // Of one task several times, the rest are its duplicates.
    const offers = [...new Map(inputs.flatMap((each) => ('offer' in each ? [[each.task, each.offer]] : []))).values()];
    for (const some of partsOf(offers, MAX_OFFER)) {
      const result = await frontier.offer(run, some, { incarnation, repeat: !isNew });
      if ('refused' in result && result.refused === 'full') throw new UnavailableError('the store is full');
    }
    await runs.seal(run, PRODUCER, incarnation);
  }

  /** While the store is away it has not. */
  async #hasEnded(): Promise<boolean> {
    try {
      return await this.#options.link.withStores(async (stores) => {
        if (!this.#isOffered) await this.#offer(stores);
        const standing = await stores.runs.standing(this.#options.read.run);
        return standing === undefined || standing.hasEnded;
      });
    } catch (error: unknown) {
      if (!(error instanceof UnavailableError)) throw error;
      // It may have been an offer that failed.
      this.#isOffered = false;
      return false;
    }
  }
}

export function recordsOf(kept: ReadonlyMap<string, string>): Map<string, PageRecord> {
  return new Map([...kept].map(([task, json]) => [task, JSON.parse(json) as PageRecord]));
}
