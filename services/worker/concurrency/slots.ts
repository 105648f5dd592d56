import { QUEUES, type Queue } from '../../../shared/task/task/routing.ts';

/** Priority's share of a worker's slots while both queues have deliveries. */
const PRIORITY_SHARE = 0.75;

/**
 * The slots in which one process works on deliveries. While both queues have deliveries, priority has three quarters of the slots and
 * normal a quarter; slots that one doesn't use are lent to the other. A task suspected of killing its process works alone. After it,
 * deliveries enter one by one until some are not suspects: most of a crashed process's tasks are, and each suspect that enters beside
 * another is put back.
 */
export class Slots {
  #total: number;
  readonly #running: Record<Queue, number> = { priority: 0, normal: 0 };
  readonly #waiting: Record<Queue, ((entered: boolean) => void)[]> = { priority: [], normal: [] };
  /** Tasks that hold a slot and wait for, or have, the process to themselves. The first has it once all others have left. */
  readonly #alone: (() => void)[] = [];
  /** Maximum deliveries in hand: one after a suspect, then doubled with each task that isn't one. */
  #window = Number.POSITIVE_INFINITY;
  #closed = false;
  #isShort = false;
  #inLine = 0;

  constructor(total: number) {
    this.#total = total;
  }

  /** Number of deliveries being worked on. */
  get inHand(): number {
    return this.#running.priority + this.#running.normal;
  }

  get total(): number {
    return this.#total;
  }

  /** Whether all slots are taken and a delivery waits for one. */
  get isFull(): boolean {
    return this.inHand >= this.#total && this.#waiting.priority.length + this.#waiting.normal.length > 0;
  }

  /** Notes that a request was refused for lack of slots, without waiting for one. */
  noteShortage(): void {
    this.#isShort = true;
  }

  /** Returns whether there were too few slots since the last call. */
  takeShortage(): boolean {
    const isShort = this.#isShort || this.isFull;
    this.#isShort = false;
    return isShort;
  }

  /** Notes that a task in hand begins (1) or stops (-1) waiting for a place at its host. */
  noteInLine(by: 1 | -1): void {
    this.#inLine += by;
  }

  /** Whether most of the tasks in hand wait for a place at their host. Other processes couldn't ask that host either. */
  get isCrowded(): boolean {
    return 2 * this.#inLine > this.inHand;
  }

  /** Whether a task has the process to itself, or waits for that. */
  get isReserved(): boolean {
    return this.#alone.length > 0;
  }

  /**
   * Waits for a slot, but no longer than `timeout` if that is given. Resolves with `false` if the time is up or the worker is stopping. A
   * slot that was entered must be left.
   */
  enter(queue: Queue, timeout?: Promise<void>): Promise<boolean> {
    return new Promise((resolve) => {
      if (this.#closed) {
        resolve(false);
        return;
      }
      this.#waiting[queue].push(resolve);
      this.#admit();
      void timeout?.then(() => {
        const at = this.#waiting[queue].indexOf(resolve);
        if (at < 0) return;
        this.#waiting[queue].splice(at, 1);
        resolve(false);
      });
    });
  }

  leave(queue: Queue): void {
    this.#running[queue]--;
    this.#admit();
    this.#startAlone();
  }

  /** Runs `work`, from within a slot, while nothing else is worked on in this process. */
  async alone<T>(work: () => Promise<T>): Promise<T> {
    await new Promise<void>((resolve) => {
      this.#alone.push(resolve);
      this.#startAlone();
    });
    try {
      return await work();
    } finally {
      this.#alone.shift();
      // The next one starts when this slot is left.
      this.#window = 1;
    }
  }

  /** Notes that a task that is not a suspect has begun. */
  noteUnsuspected(): void {
    this.#window *= 2;
    this.#admit();
  }

  /** Sets the number of slots. If it shrinks, deliveries that have a slot keep it. */
  resize(total: number): void {
    this.#total = total;
    this.#admit();
  }

  /** Lets no delivery enter any more; those that wait get `false`. */
  close(): void {
    this.#closed = true;
    for (const queue of QUEUES) for (const turnAway of this.#waiting[queue].splice(0)) turnAway(false);
  }

  /** Lets deliveries enter again. */
  open(): void {
    this.#closed = false;
  }

  #admit(): void {
    while (this.inHand < Math.min(this.#total, this.#window) && this.#alone.length === 0) {
      const queue = this.#nextQueue();
      if (queue === undefined) return;
      this.#running[queue]++;
      this.#waiting[queue].shift()?.(true);
    }
  }

  #nextQueue(): Queue | undefined {
    const [priority, normal] = [this.#waiting.priority.length > 0, this.#waiting.normal.length > 0];
    if (priority && normal) return this.#running.priority < this.#total * PRIORITY_SHARE ? 'priority' : 'normal';
    if (priority) return 'priority';
    return normal ? 'normal' : undefined;
  }

  /** Starts the next task that waits to be alone. Such tasks hold slots too, so it can start when only they are left. */
  #startAlone(): void {
    if (this.inHand === this.#alone.length) this.#alone[0]?.();
  }
}
