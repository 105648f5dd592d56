import type { Clock } from '../../clock.ts';
import type { OpenedRun, Steered } from '../../runs.ts';
import { MemoryRuns } from '../memory/runs.ts';
import type { MemoryStore } from '../memory/store.ts';
import type { Journal } from './journal.ts';
import { releasesBefore } from './replay.ts';

interface JournaledRunsOptions {
  readonly store: MemoryStore;
  readonly clock: Clock;
  readonly journals: ReadonlyMap<string, Journal>;
}

/** The runs beside a {@link JournaledFrontier}: who has offered all, and how a run was steered, is written down too. */
export class JournaledRuns extends MemoryRuns {
  readonly #store: MemoryStore;
  readonly #journals: ReadonlyMap<string, Journal>;

  constructor(options: JournaledRunsOptions) {
    super(options);
    this.#store = options.store;
    this.#journals = options.journals;
  }

  override async open(...opened: Parameters<MemoryRuns['open']>): Promise<OpenedRun> {
    const [id, , producer] = opened;
    const opening = super.open(...opened);
    const run = this.#store.runs.get(id);
    const journal = this.#journals.get(id);
    if (journal !== undefined && run?.producers.has(producer) === true) {
      // A run of this name may have ended before: its records are older.
      run.releases = Math.max(run.releases, releasesBefore(journal.session));
      await journal.opened(producer);
    }
    return await opening;
  }

  override async seal(id: string, producer?: string): Promise<Steered | undefined> {
    const run = this.#store.runs.get(id);
    const counts = producer === undefined || run?.producers.has(producer) === true;
    const sealing = super.seal(id, producer);
    if (run !== undefined && counts) await this.#journals.get(id)?.sealed(producer);
    return await sealing;
  }

  override pause(id: string, reason?: string): Promise<Steered | undefined> {
    return this.#steered(id, () => super.pause(id, reason));
  }

  override resume(id: string): Promise<Steered | undefined> {
    return this.#steered(id, () => super.resume(id));
  }

  override cancel(id: string): Promise<Steered | undefined> {
    return this.#steered(id, () => super.cancel(id));
  }

  async #steered(id: string, steer: () => Promise<Steered | undefined>): Promise<Steered | undefined> {
    const run = this.#store.runs.get(id);
    const before = run?.state;
    const steering = steer();
    if (run !== undefined && run.state !== before) await this.#journals.get(id)?.steered(run.state);
    return await steering;
  }
}
