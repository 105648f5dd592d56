import type {
  Offer,
  OfferOptions,
  OfferResult,
  Release,
  ReleaseName,
  ReleaseOptions,
  Settlement,
} from '../../ports/frontier.ts';
import type { Clock } from '../../runtime/clock.ts';
import { malformedMarkOf } from '../../task/url/fingerprint.ts';
import { MemoryFrontier } from '../memory/frontier.ts';
import { flightOf, type MemoryStore, type StoredTask } from '../memory/store.ts';
import { type FrontierPolicy, LEAD_MS } from '../policy.ts';
import type { Journal } from './journal.ts';

interface JournaledFrontierOptions {
  readonly store: MemoryStore;
  readonly policy: FrontierPolicy;
  readonly clock: Clock;
  /** By run. A run without one is kept in memory only. */
  readonly journals: ReadonlyMap<string, Journal>;
}

/**
 * The memory frontier, which also writes down what it takes and what came of it, so that another process can go on: an
 * offer is answered, and a settle acknowledged, when its line is written. Leases are not written: what was in flight waits
 * again. When a line can't be written, nothing is taken, released or settled any more.
 */
export class JournaledFrontier extends MemoryFrontier {
  readonly #store: MemoryStore;
  readonly #clock: Clock;
  readonly #journals: ReadonlyMap<string, Journal>;
  #taken: StoredTask[] = [];

  constructor(options: JournaledFrontierOptions) {
    super(options);
    this.#store = options.store;
    this.#clock = options.clock;
    this.#journals = options.journals;
  }

  override async offer(id: string, tasks: readonly Offer[], options: OfferOptions = {}): Promise<OfferResult> {
    const journal = this.#journals.get(id);
    const run = this.#store.runs.get(id);
    if (journal === undefined || run === undefined) return await super.offer(id, tasks, options);
    journal.failure.throwIfAborted();
    const parent = options.parent === undefined ? 0 : (flightOf(run, options.parent)?.task.number ?? 0);
    const before = run.duplicate;
    this.#taken = [];
    // It moves everything before it returns: the lines are in the order of the moves.
    const result = super.offer(id, tasks, options);
    if (run.duplicate > before) run.duplicate -= journal.useCredits(parent, marksOf(tasks));
    const written = journal.offered(parent, this.#taken, run.duplicate - before);
    await written;
    return await result;
  }

  override async release(options: ReleaseOptions): Promise<Release> {
    for (const { failure } of this.#journals.values())
      if (failure.aborted) return { tasks: [], nextLookMs: LEAD_MS, now: this.#clock.now() };
    return await super.release(options);
  }

  override async settle(id: string, release: ReleaseName, settlement: Settlement): Promise<'settled' | 'already'> {
    const journal = this.#journals.get(id);
    const task = flightOf(this.#store.runs.get(id), release)?.task;
    if (journal === undefined || task === undefined) return await super.settle(id, release, settlement);
    journal.failure.throwIfAborted();
    const written = this.#write(journal, task, settlement);
    const result = super.settle(id, release, settlement);
    await written;
    return await result;
  }

  override async claim(id: string, release: ReleaseName, mark: string): Promise<'claimed' | 'taken' | 'stale'> {
    const journal = this.#journals.get(id);
    const run = this.#store.runs.get(id);
    const task = flightOf(run, release)?.task;
    if (journal === undefined || run === undefined || task === undefined) return await super.claim(id, release, mark);
    journal.failure.throwIfAborted();
    const before = run.claims.get(task.mark);
    const result = super.claim(id, release, mark);
    if (run.claims.get(task.mark) !== before) await journal.claimed(task, mark);
    return await result;
  }

  protected override taken(task: StoredTask): void {
    this.#taken.push(task);
  }

  #write(journal: Journal, task: StoredTask, { outcome, bytes = 0, page }: Settlement): Promise<void> | undefined {
    switch (outcome.kind) {
      case 'done':
      case 'skipped':
      case 'failed':
        return journal.ended(task, outcome, bytes, page?.bytesSaved);
      case 'retry':
        return journal.retried(task, bytes, this.#clock.now() + Math.round(outcome.inMs));
      case 'defer':
        // Waiting or in flight, it is the same to who reads the journal.
        return outcome.host === undefined && !outcome.throttled ? undefined : journal.throttled(task);
    }
  }
}

function* marksOf(tasks: readonly Offer[]): Generator<string, void, void> {
  for (const task of tasks) yield 'malformed' in task ? malformedMarkOf(task.malformed) : task.mark;
}
