import { type EventLoopUtilization, performance } from 'node:perf_hooks';
import { BEAT_EVERY_MS, type WorkProgress } from '../../shared/ports/roster.ts';
import { MINUTE_MS, SECOND_MS } from '../../shared/task/durations.ts';
import type { Outcome } from '../../shared/task/task/outcome.ts';

/** Progress of the process at one beat. */
interface Mark {
  readonly at: number;
  readonly pages: number;
  readonly load: EventLoopUtilization;
}

/** Number of beats that the pace is measured over: those of a minute. */
const MARKS = MINUTE_MS / BEAT_EVERY_MS;
/** Shortest time over which a pace means anything. */
const LEAST_MS = SECOND_MS;

interface WorkPaceOptions {
  /** See {@link WorkProgress.stuckAfterMs}. */
  readonly stuckAfterMs: number;
  /** Returns milliseconds of any clock that only goes forward. Default: the process's own. */
  readonly now?: () => number;
}

/** Measures a worker's progress for its beats. */
export class WorkPace {
  readonly #stuckAfterMs: number;
  readonly #now: () => number;
  readonly #marks: Mark[] = [];
  #pages = 0;
  #settledAt: number | undefined;
  /** Since when it has had tasks in hand without a settle. */
  #busySince: number;

  constructor({ stuckAfterMs, now = () => performance.now() }: WorkPaceOptions) {
    this.#stuckAfterMs = stuckAfterMs;
    this.#now = now;
    this.#busySince = now();
    this.#mark();
  }

  /** Notes that a task comes into hand, besides `inHand` others. */
  took(inHand: number): void {
    if (inHand === 0) this.#busySince = this.#now();
  }

  /** Notes a settled task. A deferred one doesn't count as a page. */
  settled(outcome: Outcome['kind']): void {
    if (outcome !== 'defer') this.#pages++;
    this.#settledAt = this.#now();
    this.#busySince = this.#settledAt;
  }

  /** Returns the progress for a beat; the pace is that of the last minute. */
  read(): WorkProgress {
    const now = this.#now();
    const first = this.#marks[0];
    this.#mark();
    const forMs = first === undefined ? 0 : now - first.at;
    const settledAt = this.#settledAt;
    return {
      ...(settledAt === undefined ? {} : { settledMsAgo: Math.round(now - settledAt) }),
      unsettledMs: Math.round(now - this.#busySince),
      stuckAfterMs: this.#stuckAfterMs,
      ...(first === undefined || forMs < LEAST_MS
        ? {}
        : {
            pagesPerSecond: rounded(((this.#pages - first.pages) / forMs) * SECOND_MS),
            busyShare: rounded(performance.eventLoopUtilization(first.load).utilization),
          }),
    };
  }

  #mark(): void {
    this.#marks.push({ at: this.#now(), pages: this.#pages, load: performance.eventLoopUtilization() });
    if (this.#marks.length > MARKS) this.#marks.shift();
  }
}

function rounded(value: number): number {
  return Math.round(value * 1_000) / 1_000;
}
