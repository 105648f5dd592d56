import { LRUCache } from 'lru-cache';
import type { Clock } from '../clock.ts';

/** Limits on the number of entries, on the sum of the sizes given to `keep`, or both. */
type Bounds = { readonly max: number; readonly maxSize?: number } | { readonly maxSize: number };

/**
 * A cache whose values expire: `lru-cache` on a given clock. When it is full, it drops the least recently used value.
 *
 * A large `max` costs memory from the start, some 60 bytes per entry; `maxSize` does not.
 */
export class ExpiringCache<V extends {}> extends LRUCache<string, V> {
  constructor({ clock, ...bounds }: Bounds & { readonly clock: Pick<Clock, 'monotonic'> }) {
    // By default, lru-cache reads the clock at most once per millisecond of real time, whatever the clock says.
    super({ ...bounds, perf: { now: () => clock.monotonic() }, ttlResolution: 0 });
  }

  /** Keeps a value for exactly `ttlMs`, replacing any earlier one. (By itself, lru-cache drops an entry only after its ttl.) */
  keep(key: string, value: V, ttlMs: number, size?: number): void {
    this.set(key, value, { ttl: ttlMs - 0.5, ...(size === undefined ? {} : { size }) });
  }
}
