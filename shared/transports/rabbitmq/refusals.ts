import type { Destination, OutgoingMessage, PublishOutcome } from '../../ports/transport.ts';

/** Time for which a refusal counts as recent. Refused messages are published again every second or so. */
const RECENT_MS = 10_000;
/** Time without accepting anything after which a queue counts as stuck. A full queue accepts a message whenever a worker takes one. */
const STUCK_AFTER_MS = 5_000;

/** Tracks the refusals of queues that are bounded by a policy (`max-length` with `reject-publish`). */
export class Refusals {
  readonly #now: () => number;
  #lastAt = Number.NEGATIVE_INFINITY;
  /** When each queue that has accepted nothing since began to refuse. */
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

  /** Whether any queue has refused something in the last seconds. */
  get areRecent(): boolean {
    return this.#now() - this.#lastAt < RECENT_MS;
  }

  /** Returns the queues that have accepted nothing for a while, and restarts the time of each. */
  takeStuck(): readonly Destination[] {
    const now = this.#now();
    const stuck = [...this.#since].filter(([, since]) => now - since >= STUCK_AFTER_MS).map(([queue]) => queue);
    for (const queue of stuck) this.#since.set(queue, now);
    return stuck;
  }
}
