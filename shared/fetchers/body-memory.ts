import type { MemoryShare } from '../ports/fetcher.ts';
import { RequestClock } from './request-clock.ts';

/** Bytes reserved for a body without a Content-Length. */
const UNKNOWN_BYTES = 262_144;
/** Bytes reserved each time a body outgrows its reservation. */
const STEP_BYTES = 65_536;

const nothing = (): void => {};

/**
 * The memory budget for the page bodies that one process reads and holds, and for the data its joins receive.
 *
 * A body reserves its length before it is read, and more as it grows. When the budget is used up, bodies wait: their sockets are
 * not read, so their servers wait too, and the clocks of their requests are paused. When memory is freed, the oldest body that
 * fits resumes. The very oldest needs no free memory, so there is always one that makes progress, however large it is.
 *
 * | state of a body | what counts                                             |
 * |-----------------|---------------------------------------------------------|
 * | being read      | its reservation, or the bytes received if they are more |
 * | being decoded   | the bytes received, and those decoded so far            |
 * | held            | its bytes, until the caller releases them               |
 */
export class BodyMemory {
  readonly #budgetBytes: number;
  #usedBytes = 0;
  #waiting = 0;
  #isAdmitting = false;
  /** The oldest first. */
  readonly #shares = new Set<BodyShare>();

  constructor(budgetBytes: number) {
    this.#budgetBytes = budgetBytes;
  }

  get usedBytes(): number {
    return this.#usedBytes;
  }

  /** Bodies that wait for memory. */
  get waiting(): number {
    return this.#waiting;
  }

  /**
   * Opens a share for a body. The caller must close it in the end.
   *
   * @param saysBytes its Content-Length, if it has one
   * @param most maximum bytes of the body
   * @param clock the request's clock
   */
  open(saysBytes: number | undefined, most: number, clock: RequestClock): BodyShare {
    const share = new BodyShare(this, clock);
    this.#shares.add(share);
    this.reserve(share, Math.min(saysBytes ?? UNKNOWN_BYTES, most));
    return share;
  }

  /** See {@link BodyBudget.reserve}. */
  async enter(bytes: number): Promise<MemoryShare> {
    const share = this.open(bytes, bytes, new RequestClock());
    if (share.wantedBytes > 0)
      await new Promise<void>((resolve) => {
        share.onRoom = resolve;
      });
    return share;
  }

  /** For a share: reserves more bytes. Returns `false` if the share must wait. */
  reserve(share: BodyShare, bytes: number): boolean {
    // An empty body needs no memory, so it never waits.
    if (bytes === 0 || this.#usedBytes + bytes <= this.#budgetBytes || this.isOldest(share)) {
      this.count(share, bytes);
      return true;
    }
    share.wantedBytes = bytes;
    this.#waiting++;
    share.clock.pause();
    return false;
  }

  /** For a share: counts more bytes, or fewer, even if they exceed the budget. */
  count(share: BodyShare, bytes: number): void {
    share.reservedBytes += bytes;
    this.#usedBytes += bytes;
    if (bytes < 0) this.#admit();
  }

  /** For a share: stops waiting. */
  unwant(share: BodyShare): void {
    if (share.wantedBytes === 0) return;
    share.wantedBytes = 0;
    this.#waiting--;
    share.clock.resume();
  }

  /** For a share: frees its bytes and removes it. */
  drop(share: BodyShare): void {
    if (!this.#shares.delete(share)) return;
    this.unwant(share);
    this.#usedBytes -= share.reservedBytes;
    this.#admit();
  }

  isOldest(share: BodyShare): boolean {
    for (const oldest of this.#shares) return oldest === share;
    return false;
  }

  /** For a share: returns the bytes it can take without waiting. */
  roomFor(share: BodyShare): number {
    if (this.isOldest(share)) return Number.POSITIVE_INFINITY;
    return Math.max(0, this.#budgetBytes - this.#usedBytes + share.reservedBytes - share.heldBytes);
  }

  /** Resumes waiting bodies, in a microtask: a body that resumes can end at once and free memory for the next. */
  #admit(): void {
    if (this.#waiting === 0 || this.#isAdmitting) return;
    this.#isAdmitting = true;
    queueMicrotask(() => {
      this.#isAdmitting = false;
      for (const share of this.#shares) {
        const { wantedBytes } = share;
        if (wantedBytes === 0) continue;
        if (this.#usedBytes + wantedBytes > this.#budgetBytes && !this.isOldest(share)) continue;
        this.count(share, wantedBytes);
        this.unwant(share);
        share.onRoom();
      }
    });
  }
}

/** One body's part of the {@link BodyMemory}. */
export class BodyShare implements MemoryShare {
  readonly clock: RequestClock;
  readonly #memory: BodyMemory;
  /** Set by the memory. */
  reservedBytes = 0;
  /** Set by the memory: the bytes it waits for; 0 if it doesn't wait. */
  wantedBytes = 0;
  heldBytes = 0;
  /** Called when reading may resume after a wait. */
  onRoom = nothing;

  constructor(memory: BodyMemory, clock: RequestClock) {
    this.#memory = memory;
    this.clock = clock;
  }

  /** Counts bytes received. If it returns `false`, the caller must stop reading until {@link onRoom} is called. */
  take(bytes: number): boolean {
    this.heldBytes += bytes;
    const excess = this.heldBytes - this.reservedBytes;
    if (excess > 0) {
      this.#memory.count(this, excess);
      if (this.wantedBytes === 0) return this.#memory.reserve(this, STEP_BYTES);
    }
    return this.wantedBytes === 0;
  }

  /** The bytes it can take without waiting at this moment. */
  get roomBytes(): number {
    return this.#memory.roomFor(this);
  }

  /** Ends reading: the body is complete and has this many bytes. */
  settle(bytes: number): void {
    this.#memory.unwant(this);
    // The callback holds the whole request.
    this.onRoom = nothing;
    this.heldBytes = bytes;
    this.#memory.count(this, bytes - this.reservedBytes);
  }

  /** Frees its memory. Safe to call twice. */
  close(): void {
    this.#memory.drop(this);
  }
}
