import { PerformanceObserver } from 'node:perf_hooks';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';

/** Room that young objects need. With less, pages in hand survive collections and are copied. */
const ENOUGH_YOUNG_BYTES = 32 * 2 ** 20;
/** Room needed with many pages in hand. They survive longer, because at a polite pace each waits for its host. */
const ENOUGH_FOR_MANY_BYTES = 64 * 2 ** 20;
const MANY_IN_HAND = 96;

/**
 * Bounds the growth of the heap beyond the live objects in it, for a process that fetches pages.
 *
 * V8 lets the young generation grow to 128 MiB if many objects survive, and the old one to four times its live objects. Neither
 * makes pages cheaper: above 32 MiB, more room for young objects saves no copying.
 *
 * | a crawl of 60,000 pages of 9 KB | peak RSS   | CPU per page |
 * |---------------------------------|------------|--------------|
 * | V8's defaults                   | 358-370 MB | 0.50-0.56 ms |
 * | bounded                         | 265-272 MB | 0.49-0.54 ms |
 *
 * Measured with an old generation that could double. With 300,000 pages that took 284-314 MB; with the bound set here, 278 MB,
 * at the same CPU time.
 *
 * **Many pages in hand.** At a polite pace, a page waits for its host and is in hand for a tenth of a second. With 2,000 hosts,
 * hundreds of pages are in hand at once. They used to survive two collections, after which only a full one frees them. With
 * twice the room for young objects, 345 collections take 1.4 s where 652 took 2.0 s, and old objects are collected 12 times
 * instead of 31, for 25 MB more (50,000 pages in 28 s).
 *
 * **One thread.** Collections of young objects are short, and there are twenty a second. If a crawl and its servers keep all
 * cores busy, V8's helper threads start late: with them, pages take 3 to 5 % more CPU time, and the event loop pauses a third
 * longer.
 *
 * **When flags are set.** V8 reads these flags each time it collects or decides how far to grow, so they can be set in a running
 * process. A maximum size it reads only at the start, so growth is switched off instead once the size is right. The size is
 * checked after each collection, since that is when it doubles. With a check once a second, it grew from 32 MiB to 128 when
 * many pages came into hand at once. The observer keeps no process alive, and ends once the larger size is reached.
 *
 * @param inHand returns the number of pages that this process has in hand
 * @returns a function that ends the checks. Call it: everything `inHand` refers to stays in memory until then
 */
export function boundHeap(inHand: () => number): () => void {
  setFlagsFromString('--heap-growing-percent=40');
  setFlagsFromString('--no-parallel-scavenge');
  let grows = true;
  const observer = new PerformanceObserver(() => {
    const enough = inHand() > MANY_IN_HAND ? ENOUGH_FOR_MANY_BYTES : ENOUGH_YOUNG_BYTES;
    const young = youngBytes();
    if (young < enough !== grows) {
      grows = young < enough;
      setFlagsFromString(`--semi-space-growth-factor=${grows ? 2 : 1}`);
    }
    if (young >= ENOUGH_FOR_MANY_BYTES) observer.disconnect();
  });
  observer.observe({ entryTypes: ['gc'] });
  return () => observer.disconnect();
}

function youngBytes(): number {
  return getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space')?.space_size ?? 0;
}
