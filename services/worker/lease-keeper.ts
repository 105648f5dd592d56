import { messageOf } from '../../shared/errors.ts';
import type { Frontier } from '../../shared/frontier.ts';
import type { Logger } from '../../shared/logger.ts';

/** A third of a working lease: two renewals may be lost. */
const RENEW_EVERY_MS = 20_000;

/** Keeps the leases of the tasks that this process works on. */
export class LeaseKeeper {
  readonly #frontier: Frontier;
  readonly #log: Logger;
  readonly #held = new Map<string, Set<number>>();
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

  keep(run: string, release: number): void {
    let releases = this.#held.get(run);
    if (releases === undefined) {
      releases = new Set();
      this.#held.set(run, releases);
    }
    releases.add(release);
  }

  drop(run: string, release: number): void {
    const releases = this.#held.get(run);
    releases?.delete(release);
    if (releases?.size === 0) this.#held.delete(run);
  }

  async #renew(): Promise<void> {
    for (const [run, releases] of this.#held) {
      try {
        await this.#frontier.renew(run, [...releases]);
      } catch (error: unknown) {
        this.#log.warn({ error: messageOf(error) }, 'leases could not be renewed');
      }
    }
  }
}
