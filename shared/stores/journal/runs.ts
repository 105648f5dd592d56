import type { OpenedRun, Steered } from '../../ports/runs.ts';
import type { Clock } from '../../runtime/clock.ts';
import { MemoryRuns } from '../memory/runs.ts';
import type { MemoryStore } from '../memory/store.ts';
import type { Journal } from './journal.ts';

interface JournaledRunsOptions {
  readonly store: MemoryStore;
  readonly clock: Clock;
  readonly journals: ReadonlyMap<string, Journal>;
  /** See {@link MemoryRuns}. */
  readonly incarnations?: () => string;
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
      await journal.opened(producer);
    }
    return await opening;
  }

  override async seal(id: string, producer?: string, incarnation?: string): Promise<Steered | undefined> {
    const run = this.#store.runs.get(id);
    const before = [...(run?.producers.keys() ?? [])];
    const sealing = super.seal(id, producer, incarnation);
    const journal = this.#journals.get(id);
    if (run !== undefined && producer === undefined) await journal?.sealed();
    else for (const each of before) if (run?.producers.has(each) === false) await journal?.sealed(each);
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
