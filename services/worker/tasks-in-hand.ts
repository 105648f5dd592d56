import type { TaskInHand } from '../../shared/ports/roster.ts';
import type { Delivery } from '../../shared/ports/transport.ts';
import { readDelivery } from './delivered.ts';

/** Maximum number of tasks that a beat names: those that take longest. */
export const MOST_NAMED = 20;
/** Maximum characters of a URL in a beat; the rest is cut off. */
const MOST_URL_LENGTH = 300;

interface TasksInHandOptions {
  /** Returns milliseconds of any clock that only goes forward. Default: the process's own. */
  readonly now?: () => number;
}

/** The tasks that a worker works on, for its beats. */
export class TasksInHand {
  readonly #now: () => number;
  /** When each began, in that order. */
  readonly #since = new Map<Delivery, number>();

  constructor({ now = () => performance.now() }: TasksInHandOptions = {}) {
    this.#now = now;
  }

  begin(delivery: Delivery): void {
    this.#since.set(delivery, this.#now());
  }

  end(delivery: Delivery): void {
    this.#since.delete(delivery);
  }

  /** Returns the tasks that have been in hand longest, the longest first. */
  read(): readonly TaskInHand[] {
    const now = this.#now();
    const named: TaskInHand[] = [];
    for (const [delivery, since] of this.#since) {
      if (named.length === MOST_NAMED) break;
      const message = readDelivery(delivery);
      // Seeds that another program published belong to no run yet, and take no time.
      if (message.kind !== 'task' || message.task.run === undefined) continue;
      const { run, url, step } = message.task;
      named.push({ run, url: url.slice(0, MOST_URL_LENGTH), step, forMs: Math.round(now - since) });
    }
    return named;
  }
}
