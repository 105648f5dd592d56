import { type Frontier, type ReleaseName, WORKING_MS } from '../../shared/ports/frontier/frontier.ts';
import { messageOf } from '../../shared/runtime/errors.ts';
import type { Logger } from '../../shared/runtime/logger.ts';

/** A third of a working lease, so that two renewals can be lost. */
const RENEW_EVERY_MS = WORKING_MS / 3;

/** Renews the leases of the tasks that this process works on. */
export class LeaseKeeper {
  readonly #frontier: Frontier;
  readonly #log: Logger;
  readonly #kept = new Map<string, Set<ReleaseName>>();
  #timer: NodeJS.Timeout | undefined;

  constructor(frontier: Frontier, log: Logger) {
    this.#frontier = frontier;
    this.#log = log;
  }

  start(): void {
    this.#timer ??= setInterval(() => void this.#renew(), RENEW_EVERY_MS).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  keep(run: string, release: ReleaseName): void {
    let releases = this.#kept.get(run);
    if (releases === undefined) {
      releases = new Set();
      this.#kept.set(run, releases);
    }
    releases.add(release);
  }

  /** @param release the same object that was passed to {@link keep} */
  drop(run: string, release: ReleaseName): void {
    const releases = this.#kept.get(run);
    releases?.delete(release);
    if (releases?.size === 0) this.#kept.delete(run);
  }

  async #renew(): Promise<void> {
    for (const [run, releases] of this.#kept) {
      try {
        await this.#frontier.renew(run, [...releases]);
      } catch (error: unknown) {
        this.#log.warn({ error: messageOf(error) }, 'leases could not be renewed');
      }
    }
  }
}
