import type { Redis } from 'ioredis';

/** Reads a key of each type as it was written. `DUMP` would not do: it compresses, so a text may be in it and not be found. */
const READ: Readonly<Record<string, (redis: Redis, key: string) => Promise<unknown>>> = {
  string: (redis, key) => redis.get(key),
  hash: (redis, key) => redis.hgetall(key),
  list: (redis, key) => redis.lrange(key, 0, -1),
  set: (redis, key) => redis.smembers(key),
  zset: (redis, key) => redis.zrange(key, 0, -1),
};

/** Returns the names and contents of all keys with a prefix, as one text. */
export async function textsInRedis(redis: Redis, prefix: string): Promise<string> {
  const keys = await redis.keys(`${prefix}*`);
  const texts = await Promise.all(
    keys.map(async (key) => {
      const type = await redis.type(key);
      // It may have expired.
      if (type === 'none') return key;
      const read = READ[type];
      if (read === undefined) throw new Error(`${key} has the type ${type}, which is not read here`);
      return `${key} ${JSON.stringify(await read(redis, key))}`;
    }),
  );
  return texts.join('\n');
}
