import type { Redis } from 'ioredis';
import { partsOf } from '../../task/parts.ts';

/** Entries read by one command: well below a millisecond of Redis' time. */
const CHUNK = 500;
/** Entries of a list that successive chunks read twice: entries shift when a probe is taken from the tail in between. */
const OVERLAP = 20;

/** Reads a list from its tail to its head, in chunks. Entries may come twice; none that stays in the list is missed. */
export async function* chunksOfList(redis: Redis, key: string): AsyncGenerator<string[]> {
  for (let last = -1; ; last -= CHUNK - OVERLAP) {
    const entries = await redis.lrange(key, last - CHUNK + 1, last);
    if (entries.length > 0) yield entries;
    if (entries.length < CHUNK) return;
  }
}

/** Reads the members of a set, in chunks. Members present throughout come at least once. */
export async function* chunksOfSet(redis: Redis, key: string, pattern = '*'): AsyncGenerator<string[]> {
  for (let cursor = '0'; ; ) {
    const [next, members] = await redis.sscan(key, cursor, 'MATCH', pattern, 'COUNT', CHUNK);
    if (members.length > 0) yield members;
    if (next === '0') return;
    cursor = next;
  }
}

/** Reads the keys that match, in chunks. Keys present throughout come at least once. */
export async function* chunksOfKeys(redis: Redis, pattern: string): AsyncGenerator<string[]> {
  for (let cursor = '0'; ; ) {
    const [next, keys] = await redis.scan(cursor, 'MATCH', pattern, 'COUNT', CHUNK);
    if (keys.length > 0) yield keys;
    if (next === '0') return;
    cursor = next;
  }
}

/** Reads the pairs of a sorted set (member, score) or of a hash (field, value), in chunks. */
export async function* chunksOfPairs(
  redis: Redis,
  key: string,
  kind: 'zset' | 'hash',
): AsyncGenerator<[string, string][]> {
  for (let cursor = '0'; ; ) {
    const [next, flat] =
      kind === 'zset' ? await redis.zscan(key, cursor, 'COUNT', CHUNK) : await redis.hscan(key, cursor, 'COUNT', CHUNK);
    const pairs = [...partsOf(flat, 2)] as [string, string][];
    if (pairs.length > 0) yield pairs;
    if (next === '0') return;
    cursor = next;
  }
}

/** Returns a glob pattern that matches only this text. */
export function escapeGlob(text: string): string {
  return text.replaceAll(/[\\*?[\]^]/g, '\\$&');
}
