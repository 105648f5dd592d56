const FREE = 0;
const LOAD = 0.7;
const FIRST_CAPACITY = 16;
/** While one of them grows, it is there twice, and none of the others is. */
const PARTS = 64;

/**
 * The highest release of each task, for many millions of tasks: an open-addressed table with 20 bytes per slot, of which at least a third
 * are in use: 340 MB for ten million tasks. A task's key is the first 96 bits of its fingerprint; the probability that any two of ten million
 * tasks collide is below 10^-15.
 */
export class NewestReleases {
  readonly #parts = Array.from({ length: PARTS }, () => new Part());

  /** Notes a record's release. */
  see(task: string, release: number): void {
    const key = keyOf(task);
    this.#partOf(key).see(key, release);
  }

  /** Is this the task's highest release? True only the first time, so that a line repeated after a crash is read once. */
  take(task: string, release: number): boolean {
    const key = keyOf(task);
    return this.#partOf(key).take(key, release);
  }

  #partOf([, , c]: Key): Part {
    return this.#parts[c % PARTS] as Part;
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
    // Releases begin at 1; work without a ledger has release 0, which must not look like a free slot.
    this.#releases[slot] = Math.max(this.#releases[slot] ?? FREE, release + 1);
  }

  take(key: Key, release: number): boolean {
    const slot = this.#find(key);
    if (this.#releases[slot] !== release + 1) return false;
    this.#releases[slot] = Number.MAX_SAFE_INTEGER;
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

/** The fingerprint behind the colon of a task id, as three numbers. */
function keyOf(task: string): Key {
  const start = task.lastIndexOf(':') + 1;
  const word = (index: number): number =>
    Number.parseInt(task.slice(start + index * 8, start + index * 8 + 8), 16) >>> 0;
  return [word(0), word(1), word(2)];
}
