import type { Destination, OutgoingMessage, PublishOutcome } from '../../ports/transport.ts';

/** Whoever is refused publishes again every second or so. */
const RECENT_MS = 10_000;
/** A queue that is really full takes something whenever a worker has taken something out of it. */
const STUCK_AFTER_MS = 5_000;

/** What queues refuse: one that a policy bounds (`max-length` with `reject-publish`) does. */
export class Refusals {
  readonly #now: () => number;
  #lastAt = Number.NEGATIVE_INFINITY;
  /** Of the queues that have taken nothing since: when they began to refuse. */
  readonly #since = new Map<Destination, number>();

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  note(messages: readonly OutgoingMessage[], outcomes: readonly PublishOutcome[]): void {
    const now = this.#now();
    const taking = new Set<Destination>();
    const refusing = new Set<Destination>();
    for (const [at, { to }] of messages.entries()) {
      if (outcomes[at] === 'refused') refusing.add(to);
      else if (outcomes[at] === 'confirmed') taking.add(to);
    }
    if (refusing.size > 0) this.#lastAt = now;
    for (const queue of taking) this.#since.delete(queue);
    for (const queue of refusing.difference(taking)) if (!this.#since.has(queue)) this.#since.set(queue, now);
  }

  /** Did any refuse something in the last seconds? */
  get areRecent(): boolean {
    return this.#now() - this.#lastAt < RECENT_MS;
  }

  /** The queues that have taken nothing for a while. From then on, each has as long again. */
  takeStuck(): readonly Destination[] {
    const now = this.#now();
    const stuck = [...this.#since].filter(([, since]) => now - since >= STUCK_AFTER_MS).map(([queue]) => queue);
    for (const queue of stuck) this.#since.set(queue, now);
    return stuck;
  }
}
