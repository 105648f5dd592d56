import { type Redis, ReplyError } from 'ioredis';
import { messageOf } from '../../runtime/errors.ts';

/** The oldest version that has flags of Lua scripts, and `LPOP` with a count. */
const OLDEST_VERSION = 7;

/** Something about a Redis that could lose URLs; not fatal if only a crash would lose them. */
interface RedisProblem {
  readonly problem: string;
  readonly isFatal: boolean;
}

/** Problems of servers that are not a single Redis, by their `redis_mode`. */
const OTHER_MODES: Readonly<Record<string, string>> = {
  cluster: 'Redis Cluster is not supported: one script touches many keys. Use a single Redis.',
  sentinel:
    'this is a Redis Sentinel, which keeps no data: name the Redis itself, or an address that follows its master.',
};

/** Returns what makes a server unfit whatever its configuration, its version or mode; undefined if nothing does. */
export async function serverProblem(redis: Redis): Promise<string | undefined> {
  const info = await redis.info('server');
  const lines = info.split('\r\n');
  const field = (name: string): string =>
    lines.find((line) => line.startsWith(`${name}:`))?.slice(name.length + 1) ?? '';
  const version = field('redis_version');
  if (Number.parseInt(version, 10) < OLDEST_VERSION)
    return `Redis ${version} is too old: expected ${OLDEST_VERSION}.0 or later`;
  return OTHER_MODES[field('redis_mode')];
}

/** Checks a Redis' version, mode and configuration. */
export async function redisProblems(redis: Redis): Promise<readonly RedisProblem[]> {
  const unfit = (await serverProblem(redis)) ?? (await evictionProblem(redis));
  if (unfit !== undefined) return [{ problem: unfit, isFatal: true }];
  const problem = await restartProblem(redis);
  return problem === undefined ? [] : [{ problem, isFatal: false }];
}

/** Added to a command that changes a setting. */
const FOR_GOOD = 'and in its configuration file, or its next restart undoes that';

/**
 * Returns what is wrong if a server may evict keys; undefined if it may not. Read from `INFO memory`, which services that hide their
 * configuration answer as well.
 */
export async function evictionProblem(redis: Redis): Promise<string | undefined> {
  const [, policy = 'noeviction'] = /^maxmemory_policy:(\S+)/m.exec(await redis.info('memory')) ?? [];
  if (policy === 'noeviction') return undefined;
  return `Redis may evict keys (maxmemory-policy is ${policy}), and with them URLs. Fix it: redis-cli config set maxmemory-policy noeviction, ${FOR_GOOD}`;
}

/** Returns what would lose URLs when the server restarts; undefined if nothing would. */
async function restartProblem(redis: Redis): Promise<string | undefined> {
  try {
    const [, appendonly = ''] = (await redis.config('GET', 'appendonly')) as string[];
    if (appendonly === 'yes') return undefined;
    return `Redis keeps no append-only file: a restart loses every URL. Fix it: redis-cli config set appendonly yes, ${FOR_GOOD}`;
  } catch (error: unknown) {
    // The connection was closed, so there is no answer about the configuration.
    if (!(error instanceof ReplyError)) throw error;
    return `Redis doesn't let its configuration be read (${messageOf(error)}): make sure that appendonly is yes`;
  }
}
