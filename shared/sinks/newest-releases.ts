const FREE = 0;
/** Marks a task whose record has been returned: no release is higher. */
const TAKEN = Number.POSITIVE_INFINITY;
const LOAD = 0.7;
const FIRST_CAPACITY = 16;
/** Number of tables. A table exists twice while it grows, so many small ones need less memory than one. */
const PARTS = 64;

/** Bits of the filter per expected task. At most 1 in 100 tasks with a single record is then mistaken for one with several. */
const BITS_PER_TASK = 10;
/** 64 MiB, enough for 50 million tasks. Beyond that, more tasks are mistaken. */
const MOST_BITS = 2 ** 29;
const FEWEST_BITS = 2 ** 10;

/**
 * The highest release of each task, for many millions of tasks.
 *
 * Most tasks have one record. A Bloom filter with a few bits per task finds those that may have more, and only their releases are
 * kept, in an open-addressed table. The release of a task's first record is not kept, and need not be: any record that is not
 * below the kept ones is the highest.
 *
 * The table takes 20 bytes per slot, and at least a third of the slots are in use: 34 bytes per task for ten million tasks. A
 * task's key is the first 96 bits of its fingerprint. The probability that any two of ten million tasks collide is below 10^-15.
 */
export class NewestReleases {
  readonly #parts = Array.from({ length: PARTS }, () => new Part());
  readonly #seen: SeenKeys;

  /** @param most expected maximum number of tasks */
  constructor(most: number) {
    this.#seen = new SeenKeys(most);
  }

  /** Notes a record's release. */
  see(task: string, release: number): void {
    const key = keyOf(task);
    if (this.#seen.add(key)) this.#partOf(key).see(key, release);
  }

  /**
   * Returns whether this is the task's highest release. `true` only the first time, so that a line repeated after a crash is read
   * once. Call it only for records passed to `see` before.
   */
  take(task: string, release: number): boolean {
    const key = keyOf(task);
    return this.#partOf(key).take(key, release);
  }

  #partOf([, , c]: Key): Part {
    return this.#parts[c % PARTS] as Part;
  }
}

/** A Bloom filter of the keys seen. It can mistake a new key for a known one, but never the reverse. */
class SeenKeys {
  readonly #words: Uint32Array;
  readonly #bits: number;
  readonly #probes: number;

  constructor(most: number) {
    this.#bits = Math.min(MOST_BITS, Math.max(FEWEST_BITS, most * BITS_PER_TASK));
    this.#words = new Uint32Array(Math.ceil(this.#bits / 32));
    this.#probes = Math.max(1, Math.round(Math.min(BITS_PER_TASK, this.#bits / most) * Math.LN2));
  }

  /** Adds a key. Returns whether it seems to have been added before. */
  add([a, b]: Key): boolean {
    let isKnown = true;
    for (let probe = 0; probe < this.#probes; probe++) {
      const at = (a + probe * b) % this.#bits;
      const [index, bit] = [at >>> 5, 1 << (at & 31)];
      const word = this.#words[index] ?? 0;
      if ((word & bit) !== 0) continue;
      isKnown = false;
      this.#words[index] = word | bit;
    }
    return isKnown;
  }
}

class Part {
  #keys = new Uint32Array(FIRST_CAPACITY * 3);
  #releases = new Float64Array(FIRST_CAPACITY);
  #size = 0;
  #mask = FIRST_CAPACITY - 1;

  see(key: Key, release: number): void {
    if (this.#size >= (this.#mask + 1) * LOAD) this.#grow();
    const slot = this.#find(key);
    if (this.#releases[slot] === FREE) {
      this.#keys.set(key, slot * 3);
      this.#size++;
    }
    // Releases begin at 1. Work without a ledger has release 0, which must not look like a free slot.
    this.#releases[slot] = Math.max(this.#releases[slot] ?? FREE, release + 1);
  }

  take(key: Key, release: number): boolean {
    const slot = this.#find(key);
    const highest = this.#releases[slot];
    if (highest === FREE) return true;
    if (highest === undefined || release + 1 < highest) return false;
    this.#releases[slot] = TAKEN;
    return true;
  }

  #find([a, b, c]: Key): number {
    for (let slot = a & this.#mask; ; slot = (slot + 1) & this.#mask) {
      if (this.#releases[slot] === FREE) return slot;
      const at = slot * 3;
      if (this.#keys[at] === a && this.#keys[at + 1] === b && this.#keys[at + 2] === c) return slot;
    }
  }

  #grow(): void {
    const [keys, releases] = [this.#keys, this.#releases];
    const capacity = (this.#mask + 1) * 2;
    this.#mask = capacity - 1;
    this.#keys = new Uint32Array(capacity * 3);
    this.#releases = new Float64Array(capacity);
    for (const [slot, release] of releases.entries()) {
      if (release === FREE) continue;
      const key = keys.subarray(slot * 3, slot * 3 + 3) as unknown as Key;
      const found = this.#find(key);
      this.#keys.set(key, found * 3);
      this.#releases[found] = release;
    }
  }
}

type Key = readonly [number, number, number];

/** Returns the fingerprint after the colon of a task's id, as three numbers. */
function keyOf(task: string): Key {
  const start = task.lastIndexOf(':') + 1;
  const word = (index: number): number =>
    Number.parseInt(task.slice(start + index * 8, start + index * 8 + 8), 16) >>> 0;
  return [word(0), word(1), word(2)];
}
