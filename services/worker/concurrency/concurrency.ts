import type { Fetcher } from '../../../shared/ports/fetcher.ts';
import type { WorkerBound } from '../../../shared/ports/roster.ts';

/** Load of a process, as measured from within. */
export interface ProcessLoad {
  /** Share of the time since the last look in which the event loop was working. */
  readonly utilization: number;
  /** Delay of the event loop in milliseconds: the 90th percentile of a second. */
  readonly loopDelayMs: number;
  /** Share of the memory limit that the process uses. */
  readonly memoryShare: number;
}

/** Load of a worker. */
export interface Load extends ProcessLoad {
  /** Whether all slots are taken with more deliveries waiting, or hosts had to wait since silent ones hold too many. */
  readonly isFull: boolean;
  /** Whether most pages in hand wait for a place at their host. */
  readonly isCrowded: boolean;
  /** Number of pages whose reading waits for memory. */
  readonly waitingForMemory: number;
  /** Milliseconds for which the oldest record has waited to be stored. */
  readonly storingMs: number;
}

interface ConcurrencyOptions {
  /** A number is fixed; `auto` finds its own. */
  readonly wanted: number | 'auto';
  /** Upper limit of `auto`. */
  readonly most: Fetcher['mostAtOnce'];
  /** Number of files that this process may have open. */
  readonly openFiles: number;
}

/**
 * Initial size with `auto`. A fast host keeps the loop fully busy from the start. With more pages open, more of them would survive each
 * collection of young objects.
 */
const AUTO_FROM = 64;
/** Lower limit for shrinking when the event loop is late. The next one is for when memory is short. */
const LEAST_WHEN_LATE = 32;
const LEAST_WHEN_SHORT = 8;
/** Files not used by requests: stores, logs, records, names. A request uses two more: its connection and a spare. */
const OTHER_FILES = 128;
const FILES_PER_SLOT = 2;
/** Utilisation above which the process has no CPU time for more pages, however many are open. */
const BUSY_UTILIZATION = 0.9;
const SLOW_LOOP_MS = 50;
/** A sink that takes longer to store a record is what pages wait for. */
const SLOW_SINK_MS = 2_000;
const HIGH_MEMORY_SHARE = 0.8;
const SHRINK_AT_MOST_EVERY_MS = 5_000;
/** Growth of a tenth a second, at two looks a second. */
const GROWTH_PER_LOOK = 1.05;

/** Bounds under which more open pages would only wait, and take memory. */
const NO_GROWTH: ReadonlySet<WorkerBound> = new Set(['cpu', 'memory', 'sink']);

/** Time between two looks. */
export const LOOK_EVERY_MS = 500;

/**
 * The number of pages that one process works on at once.
 *
 * `auto` begins with a few and doubles at each look while all slots are taken and more pages are due, until it shrinks for the first time;
 * from then on it grows by a tenth a second. It doesn't grow while the process has no CPU time left, since more open pages would only wait
 * for each other, nor while bodies wait for memory or records for a slow sink. If most pages wait for places at their hosts, it still
 * grows for the sake of the others, though politeness is then the limit. It shrinks by a fifth when the event loop is late or memory
 * gets short. Time-outs don't count: a thousand dead hosts say nothing about this machine.
 */
export class Concurrency {
  readonly #isFixed: boolean;
  readonly #most: number;
  readonly #isCutByFiles: boolean;
  #size: number;
  #hasShrunk = false;
  #shrunkAt = Number.NEGATIVE_INFINITY;
  #bound: WorkerBound = 'politeness';

  constructor({ wanted, most, openFiles }: ConcurrencyOptions) {
    const asked = wanted === 'auto' ? most : wanted;
    this.#most = Math.min(asked, slotsFor(openFiles));
    this.#isCutByFiles = this.#most < asked;
    this.#isFixed = wanted !== 'auto';
    this.#size = this.#isFixed ? this.#most : Math.min(AUTO_FROM, this.#most);
  }

  get size(): number {
    return this.#size;
  }

  /** The limit that keeps it from working on more pages at once, as of the last look. */
  get bound(): WorkerBound {
    return this.#bound;
  }

  /** Adjusts the size to the load. Called every {@link LOOK_EVERY_MS}; `now` is in ms, of any clock that only goes forward. */
  look(load: Load, now: number): void {
    this.#bound = this.#boundBy(load);
    if (this.#isFixed) return;
    if (load.memoryShare > HIGH_MEMORY_SHARE) this.#shrink(LEAST_WHEN_SHORT, now);
    else if (load.loopDelayMs > SLOW_LOOP_MS) this.#shrink(LEAST_WHEN_LATE, now);
    else if (load.isFull && !NO_GROWTH.has(this.#bound)) this.#grow();
  }

  #grow(): void {
    const grown = this.#hasShrunk ? Math.ceil(this.#size * GROWTH_PER_LOOK) : this.#size * 2;
    this.#size = Math.min(this.#most, grown);
  }

  #shrink(least: number, now: number): void {
    // If few pages are open, they are not the cause: the process has just begun, or others use the machine too.
    if (this.#size <= least || now - this.#shrunkAt < SHRINK_AT_MOST_EVERY_MS) return;
    this.#shrunkAt = now;
    this.#hasShrunk = true;
    this.#size = Math.max(Math.min(least, this.#most), Math.floor(this.#size * 0.8));
  }

  #boundBy({ isFull, isCrowded, utilization, memoryShare, waitingForMemory, storingMs }: Load): WorkerBound {
    if (storingMs > SLOW_SINK_MS && utilization <= BUSY_UTILIZATION) return 'sink';
    if (memoryShare > HIGH_MEMORY_SHARE || waitingForMemory > 0) return 'memory';
    if (utilization > BUSY_UTILIZATION) return 'cpu';
    if (!isFull || isCrowded) return 'politeness';
    return this.#isCutByFiles && this.#size >= this.#most ? 'files' : 'slots';
  }
}

/** Returns how many pages can be open with this many files. */
export function slotsFor(openFiles: number): number {
  return Math.max(1, Math.floor((openFiles - OTHER_FILES) / FILES_PER_SLOT));
}

/** Returns how many open files this many pages need. */
export function filesFor(slots: number): number {
  return OTHER_FILES + FILES_PER_SLOT * slots;
}
