import { QUEUES, type Queue } from '../../../shared/task/task/routing.ts';

/** Of a worker's slots while both queues have deliveries: three quarters are for priority. */
const PRIORITY_SHARE = 0.75;

/**
 * The places in which one process works on deliveries. While both queues have deliveries, priority has three quarters of
 * them and normal a quarter; what one doesn't use is lent to the other. A task that is suspected of killing its process
 * works alone, and after it deliveries enter one by one until some are not suspected: most of a crashed process' tasks are
 * suspects, and each that enters beside another is put back.
 */
export class Slots {
  #total: number;
  readonly #running: Record<Queue, number> = { priority: 0, normal: 0 };
  readonly #waiting: Record<Queue, ((entered: boolean) => void)[]> = { priority: [], normal: [] };
  /** Tasks that hold a slot and wait for, or have, the process to themselves; the first one has it when all others are out. */
  readonly #alone: (() => void)[] = [];
  /** How many may be in hand: one after a suspect, twice as many with each task that is none. */
  #window = Number.POSITIVE_INFINITY;
  #closed = false;
  #isShort = false;
  #inLine = 0;

  constructor(total: number) {
    this.#total = total;
  }

  /** Deliveries that are being worked on. */
  get inHand(): number {
    return this.#running.priority + this.#running.normal;
  }

  get total(): number {
    return this.#total;
  }

  /** All are taken, and somebody waits for one. */
  get isFull(): boolean {
    return this.inHand >= this.#total && this.#waiting.priority.length + this.#waiting.normal.length > 0;
  }

  /** Somebody was refused for lack of slots who doesn't wait for one. */
  noteShortage(): void {
    this.#isShort = true;
  }

  /** Were there too few slots since the last call? */
  takeShortage(): boolean {
    const isShort = this.#isShort || this.isFull;
    this.#isShort = false;
    return isShort;
  }

  /** A task in hand begins (1) to wait for a place at its host, or ends (-1). */
  noteInLine(by: 1 | -1): void {
    this.#inLine += by;
  }

  /** Do most of the tasks in hand wait for a place at their host? Other processes couldn't ask it either. */
  get isCrowded(): boolean {
    return 2 * this.#inLine > this.inHand;
  }

  /** Does a task have the process to itself, or wait for that? */
  get isReserved(): boolean {
    return this.#alone.length > 0;
  }

  /**
   * Waits for a slot, no longer than `timeout` if that is given. `false`: there won't be one, or the worker is stopping. A
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
      // Whoever is next comes when the slot is left.
      this.#window = 1;
    }
  }

  /** A task that is not suspected has begun. */
  noteUnsuspected(): void {
    this.#window *= 2;
    this.#admit();
  }

  /** Sets how many there are from now on. Where there are fewer than before, those that have one keep it. */
  resize(total: number): void {
    this.#total = total;
    this.#admit();
  }

  /** Lets nobody enter any more; those who wait are told so. */
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

  /** Those who wait to be alone hold slots too: the first goes when nobody else is left. */
  #startAlone(): void {
    if (this.inHand === this.#alone.length) this.#alone[0]?.();
  }
}
