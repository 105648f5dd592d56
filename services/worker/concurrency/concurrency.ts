import type { Fetcher } from '../../../shared/ports/fetcher.ts';
import type { WorkerBound } from '../../../shared/ports/roster.ts';

/** How a process fares, as it can be measured from within. */
export interface ProcessLoad {
  /** The share of its time in which the event loop worked, since the last look. */
  readonly utilization: number;
  /** How late the event loop was, in milliseconds: the 90th percentile of a second. */
  readonly loopDelayMs: number;
  /** Of the memory that this process may use, the share that it has. */
  readonly memoryShare: number;
}

/** How a worker fares. */
export interface Load extends ProcessLoad {
  /** All slots are taken and somebody waits for one, or hosts had to wait since others that never answer have too many. */
  readonly isFull: boolean;
  /** Most pages in hand wait for a place at their host. */
  readonly isCrowded: boolean;
  /** Pages whose reading waits for memory. */
  readonly waitingForMemory: number;
  /** Milliseconds for which the oldest record has waited to be stored. */
  readonly storingMs: number;
}

interface ConcurrencyOptions {
  /** A number stands; `auto` finds its own. */
  readonly wanted: number | 'auto';
  /** How far `auto` goes. */
  readonly most: Fetcher['mostAtOnce'];
  /** The open files that this process may have. */
  readonly openFiles: number;
}

/**
 * Where `auto` begins. A fast host gives the loop all it can do from the first: with more pages open, more of them survive each
 * collection of young objects.
 */
const AUTO_FROM = 64;
/** It shrinks no further than this when the event loop is late, and when memory is short. */
const LEAST_WHEN_LATE = 32;
const LEAST_WHEN_SHORT = 8;
/** Files that are none of its requests: stores, logs, records, names. Two more a request: its connection and a spare. */
const OTHER_FILES = 128;
const FILES_PER_SLOT = 2;
/** Above it the process has no CPU time for more pages, however many are open. */
const BUSY_UTILIZATION = 0.9;
const SLOW_LOOP_MS = 50;
/** A sink that takes longer to store a record is what pages wait for. */
const SLOW_SINK_MS = 2_000;
const HIGH_MEMORY_SHARE = 0.8;
const SHRINK_AT_MOST_EVERY_MS = 5_000;
/** A tenth a second, at two looks a second. */
const GROWTH_PER_LOOK = 1.05;

/** More open pages would not help here: they would only wait, and take memory. */
const NO_GROWTH: ReadonlySet<WorkerBound> = new Set(['cpu', 'memory', 'sink']);

/** Between two looks. */
export const LOOK_EVERY_MS = 500;

/**
 * How many pages one process works on at once.
 *
 * `auto` begins with a few and doubles at each look while all of them are taken and more are due, until it first shrinks; from
 * then on it grows by a tenth a second. It doesn't grow while the process has no time left, since more open pages would only
 * wait for each other, nor while bodies wait for memory or records for a slow sink. Where most pages wait for places at their hosts, it grows for the sake of the
 * others, but politeness is what binds. It shrinks by a fifth when the event loop is late or memory gets short.
 * Time-outs don't count: a thousand dead hosts say nothing about this machine.
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

  /** What keeps it from working on more pages at once, as of the last look. */
  get bound(): WorkerBound {
    return this.#bound;
  }

  /** Takes in how the process fares, every {@link LOOK_EVERY_MS}. `now` in ms, of any clock that only goes forward. */
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
    // With few pages open, they are not the cause: the process has just begun, or others use the machine as well.
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

/** How many pages can be open with this many files. */
export function slotsFor(openFiles: number): number {
  return Math.max(1, Math.floor((openFiles - OTHER_FILES) / FILES_PER_SLOT));
}

/** The open files that this many pages need. */
export function filesFor(slots: number): number {
  return OTHER_FILES + FILES_PER_SLOT * slots;
}
