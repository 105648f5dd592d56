import type { Redis } from 'ioredis';
import { ConfigurationError, messageOf } from '../../../runtime/errors.ts';
import { Scripts } from '../scripts.ts';
import { grantOf } from './least-rights.ts';

/** The commands that the scripts and stores run on the fleet's keys. */
// biome-ignore format: a list
export const COMMANDS: readonly string[] = [
  'DEL', 'EXISTS', 'GET', 'HDEL', 'HEXISTS', 'HGET', 'HGETALL', 'HINCRBY', 'HLEN', 'HMGET', 'HSCAN', 'HSET', 'HSETNX',
  'INCR', 'LLEN', 'LPOP', 'LPUSH', 'LRANGE', 'LTRIM', 'PEXPIRE', 'PTTL', 'RPUSH', 'SADD', 'SCAN', 'SCARD', 'SET', 'SISMEMBER',
  'SMEMBERS', 'SMISMEMBER', 'SREM', 'SSCAN', 'UNLINK', 'ZADD', 'ZCARD', 'ZCOUNT', 'ZPOPMIN', 'ZRANGE', 'ZRANGEBYSCORE', 'ZREM',
  'ZREMRANGEBYSCORE', 'ZREVRANGE', 'ZREVRANGEBYSCORE', 'ZSCAN', 'ZSCORE',
];

/** What Redis answers to a command, or one of a script, that the user may not run, or not on that key. */
const REFUSAL = /^NOPERM|^ERR The user executing the script can't|^ERR ACL failure in script/;
/** Behind that: which script it was. */
const OF_SCRIPT = / script: [0-9a-f]{40}[\s\S]*$/;

/**
 * Looks whether the user of a connection may do all that a fleet does. A script that is refused a command has written what came before
 * it: a task of which half was written waits for ever.
 *
 * @throws ConfigurationError with what it lacks
 */
export async function checkRights(redis: Redis, prefix: string): Promise<void> {
  const lacking = await lackingRights(redis, prefix);
  if (lacking === undefined) return;
  throw new ConfigurationError([
    `Redis lets its user not do all that is needed on keys ${prefix}*: ${lacking}. Grant it: ${grantOf(prefix)}`,
  ]);
}

async function lackingRights(redis: Redis, prefix: string): Promise<string | undefined> {
  try {
    // Only a script that the server doesn't know is sent by it: the user would be refused after a restart.
    await redis.eval('return 1', 0);
    const scripts = new Scripts({ redis, prefix });
    const lacking = (await scripts.run('rights', ...COMMANDS)) as readonly string[];
    if (lacking.length === 0) return undefined;
    return lacking.length === COMMANDS.length ? 'none of them is its own' : lacking.join(', ');
  } catch (error: unknown) {
    const reason = messageOf(error);
    if (!REFUSAL.test(reason)) throw error;
    return reason.replace(OF_SCRIPT, '');
  }
}
