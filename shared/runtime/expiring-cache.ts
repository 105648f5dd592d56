import { LRUCache } from 'lru-cache';
import type { Clock } from './clock.ts';

/** Bounds by number, by the sizes that `keep` was told, or by both. */
type Bounds = { readonly max: number; readonly maxSize?: number } | { readonly maxSize: number };

/**
 * Values that are kept for a while: `lru-cache` on a given clock. When there are too many, the least recently used one goes.
 *
 * A large `max` costs memory from the start, some 60 bytes an entry; `maxSize` does not.
 */
export class ExpiringCache<V extends {}> extends LRUCache<string, V> {
  constructor({ clock, ...bounds }: Bounds & { readonly clock: Pick<Clock, 'monotonic'> }) {
    // Else the clock would be read once per millisecond of real time, whatever it says.
    super({ ...bounds, perf: { now: () => clock.monotonic() }, ttlResolution: 0 });
  }

  /** Keeps a value for exactly `ttlMs`, in place of the one before: lru-cache ends an entry only once its ttl is exceeded. */
  keep(key: string, value: V, ttlMs: number, size?: number): void {
    this.set(key, value, { ttl: ttlMs - 0.5, ...(size === undefined ? {} : { size }) });
  }
}
