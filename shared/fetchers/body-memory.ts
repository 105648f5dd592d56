import type { RequestClock } from './request-clock.ts';

/** Reserved for a body that doesn't say how long it is. */
const UNKNOWN_BYTES = 262_144;
/** What a body that grows beyond its reservation reserves at a time. */
const STEP_BYTES = 65_536;

const nothing = (): void => {};

/**
 * The memory for the bodies of pages that one process reads and holds.
 *
 * A body reserves its length before it is read, and more as it grows. When the budget is used up, bodies wait: they are not read
 * on, so that their servers wait too, and the clocks of their requests stand still. As room comes, the oldest body that has
 * enough of it goes on. The very oldest of all needs none: so there is always one that goes on, however large it is.
 *
 * | a body     | counts                                                       |
 * |------------|--------------------------------------------------------------|
 * | is read    | its reservation, or what has come if that is more            |
 * | is decoded | what came over the wire, and what was made of it so far      |
 * | is held    | its bytes, until its caller lets go of them                  |
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
   * A body is to be read; whoever does that has to close its share.
   *
   * @param saysBytes what the body says of its length, if it does
   * @param most it won't get longer
   * @param clock of its request
   */
  open(saysBytes: number | undefined, most: number, clock: RequestClock): BodyShare {
    const share = new BodyShare(this, clock);
    this.#shares.add(share);
    this.reserve(share, Math.min(saysBytes ?? UNKNOWN_BYTES, most));
    return share;
  }

  /** For a share: reserves more. `false`: it has to wait. */
  reserve(share: BodyShare, bytes: number): boolean {
    if (this.#usedBytes + bytes <= this.#budgetBytes || this.isOldest(share)) {
      this.count(share, bytes);
      return true;
    }
    share.wantedBytes = bytes;
    this.#waiting++;
    share.clock.pause();
    return false;
  }

  /** For a share: counts more, or less, whether there is room or not. */
  count(share: BodyShare, bytes: number): void {
    share.reservedBytes += bytes;
    this.#usedBytes += bytes;
    if (bytes < 0) this.#admit();
  }

  /** For a share: it needs no more. */
  unwant(share: BodyShare): void {
    if (share.wantedBytes === 0) return;
    share.wantedBytes = 0;
    this.#waiting--;
    share.clock.resume();
  }

  /** For a share: it is over. */
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

  /** For a share: what it may take without waiting. */
  roomFor(share: BodyShare): number {
    if (this.isOldest(share)) return Number.POSITIVE_INFINITY;
    return Math.max(0, this.#budgetBytes - this.#usedBytes + share.reservedBytes - share.heldBytes);
  }

  /** Afterwards: who is let go on may end at once, and make room for the next. */
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

/** What one body has of the {@link BodyMemory}. */
export class BodyShare {
  readonly clock: RequestClock;
  readonly #memory: BodyMemory;
  /** Kept by its memory. */
  reservedBytes = 0;
  /** Kept by its memory: what it waits for. */
  wantedBytes = 0;
  heldBytes = 0;
  /** Called when it may be read on, after it had to wait. */
  onRoom = nothing;

  constructor(memory: BodyMemory, clock: RequestClock) {
    this.#memory = memory;
    this.clock = clock;
  }

  /** Bytes have come. `false`: no more may be read until {@link onRoom} is called. */
  take(bytes: number): boolean {
    this.heldBytes += bytes;
    const excess = this.heldBytes - this.reservedBytes;
    if (excess > 0) {
      this.#memory.count(this, excess);
      if (this.wantedBytes === 0) return this.#memory.reserve(this, STEP_BYTES);
    }
    return this.wantedBytes === 0;
  }

  /** What it may take without waiting, just now. */
  get roomBytes(): number {
    return this.#memory.roomFor(this);
  }

  /** It is complete, and this is all that is held of it. */
  settle(bytes: number): void {
    this.#memory.unwant(this);
    // It would keep the whole request in memory.
    this.onRoom = nothing;
    this.heldBytes = bytes;
    this.#memory.count(this, bytes - this.reservedBytes);
  }

  /** Nothing of it is held any more. Safe to call twice. */
  close(): void {
    this.#memory.drop(this);
  }
}
