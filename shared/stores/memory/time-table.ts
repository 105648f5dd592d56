/** Names by time: what is due, and what comes first. Ties go by name, as in a Redis sorted set. */
export class TimeTable {
  readonly #times = new Map<string, number>();
  /** A binary heap of every entry ever set; one whose time isn't the name's any more is skipped. */
  #heap: { readonly at: number; readonly name: string }[] = [];

  get size(): number {
    return this.#times.size;
  }

  get(name: string): number | undefined {
    return this.#times.get(name);
  }

  has(name: string): boolean {
    return this.#times.has(name);
  }

  set(name: string, at: number): void {
    if (this.#times.get(name) === at) return;
    this.#times.set(name, at);
    this.#push({ at, name });
  }

  /** Sets the time of a name that has none. Returns whether it did. */
  add(name: string, at: number): boolean {
    if (this.#times.has(name)) return false;
    this.set(name, at);
    return true;
  }

  /** Sets a time that is earlier than the name's own. */
  lower(name: string, at: number): void {
    const own = this.#times.get(name);
    if (own === undefined || at < own) this.set(name, at);
  }

  delete(name: string): void {
    this.#times.delete(name);
  }

  clear(): void {
    this.#times.clear();
    this.#heap = [];
  }

  names(): IterableIterator<string> {
    return this.#times.keys();
  }

  /** The names whose time comes last, latest first; never more than `limit` of them are sorted. */
  latest(limit: number): string[] {
    const found: { readonly at: number; readonly name: string }[] = [];
    for (const [name, at] of this.#times) {
      const last = found[limit - 1];
      if (limit < 1 || (last !== undefined && at < last.at)) continue;
      const entry = { at, name };
      let [from, to] = [0, found.length];
      while (from < to) {
        const middle = (from + to) >> 1;
        if (isBefore(entry, found[middle] ?? entry)) from = middle + 1;
        else to = middle;
      }
      found.splice(from, 0, entry);
      if (found.length > limit) found.pop();
    }
    return found.map(({ name }) => name);
  }

  first(): { readonly at: number; readonly name: string } | undefined {
    this.#dropStale();
    return this.#heap[0];
  }

  /** The names whose time is `now` or earlier, earliest first. They stay in the table. */
  due(now: number, limit: number): string[] {
    const found: { readonly at: number; readonly name: string }[] = [];
    while (found.length < limit) {
      const first = this.first();
      if (first === undefined || first.at > now) break;
      this.#pop();
      if (found.at(-1)?.name !== first.name) found.push(first);
    }
    for (const entry of found) this.#push(entry);
    return found.map(({ name }) => name);
  }

  #dropStale(): void {
    for (let top = this.#heap[0]; top !== undefined && this.#times.get(top.name) !== top.at; top = this.#heap[0])
      this.#pop();
  }

  #push(entry: { readonly at: number; readonly name: string }): void {
    if (this.#heap.length > 64 && this.#heap.length > 4 * this.#times.size) this.#rebuild();
    const heap = this.#heap;
    let index = heap.length;
    heap.push(entry);
    while (index > 0) {
      const parent = (index - 1) >> 1;
      const above = heap[parent];
      if (above === undefined || !isBefore(entry, above)) break;
      heap[index] = above;
      index = parent;
    }
    heap[index] = entry;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      let below = heap[child];
      if (below === undefined) break;
      const right = heap[child + 1];
      if (right !== undefined && isBefore(right, below)) {
        below = right;
        child++;
      }
      if (!isBefore(below, last)) break;
      heap[index] = below;
      index = child;
    }
    heap[index] = last;
  }

  /** Stale entries far in the future would pile up: leases are set three times a task. */
  #rebuild(): void {
    this.#heap = [...this.#times].map(([name, at]) => ({ at, name })).sort((a, b) => (isBefore(a, b) ? -1 : 1));
  }
}

function isBefore(a: { at: number; name: string }, b: { at: number; name: string }): boolean {
  return a.at < b.at || (a.at === b.at && a.name < b.name);
}
