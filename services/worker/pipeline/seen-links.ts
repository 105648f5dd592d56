const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;
/** Links remembered; about 3 MB. */
const MOST_SEEN = 100_000;

/**
 * The links that a worker has met recently. A link on every page of a site thus counts once when it is left out, and not at all if it was
 * followed from another page. In a fleet each worker has its own.
 */
export class SeenLinks {
  readonly #seen = new Set<number>();

  has(run: string, link: string): boolean {
    return this.#seen.has(digest(run, link));
  }

  /** Remembers links, and returns how many are new. */
  add(run: string, links: readonly string[]): number {
    let added = 0;
    for (const link of links) {
      const one = digest(run, link);
      if (this.#seen.has(one)) continue;
      if (this.#seen.size >= MOST_SEEN) this.#seen.clear();
      this.#seen.add(one);
      added++;
    }
    return added;
  }
}

/** FNV-1a, 32 bits. Unlike the link, a number doesn't keep the page's text in memory. */
function digest(run: string, link: string): number {
  return fold(fold(FNV_OFFSET, run), link);
}

function fold(from: number, text: string): number {
  let hash = from;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), FNV_PRIME);
  return hash;
}
