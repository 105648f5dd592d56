import { Redis, type RedisOptions, ReplyError } from 'ioredis';
import { batchWrites } from '../../runtime/batch-writes.ts';
import { CONNECT_TIMEOUT_MS } from '../../runtime/connect-timeout.ts';
import { ConfigurationError, messageOf } from '../../runtime/errors.ts';
import type { Logger } from '../../runtime/logger.ts';
import { SECOND_MS } from '../../task/durations.ts';

/** Reports about the connection, after it was first made. */
interface RedisEvents {
  /** Also after each vain attempt to reconnect: its reason may be another one. */
  lost(reason: string): void;
  restored(): void;
}

export interface RedisConnectionOptions {
  readonly events: RedisEvents;
  /** Where that is said which only a crash would lose; left out where nobody is to be told. */
  readonly log?: Logger | undefined;
  /** Is a replica waited for until it is a master? Default: no, its refusal to write is an error. */
  readonly waitsForMaster?: boolean | undefined;
}

/** The oldest version that has flags of Lua scripts, and `LPOP` with a count. */
const OLDEST_VERSION = 7;

/** A Redis client that sends commands in batches, and can hang up. */
export class BatchingRedis extends Redis {
  /** Did the server say, when it was last asked, that it still reads its data from disk? It answers nothing else meanwhile. */
  isLoading = false;

  constructor(url: string, options: RedisOptions) {
    super(url, options);
    this.on('connect', () => {
      if (this.stream !== undefined) batchWrites(this.stream);
    });
  }

  /**
   * Looks at the answers to what the client asks by itself until the server is ready. What others ask waits until then: ioredis would
   * send what a loading server answers as well, such as INFO, and forget it, with no answer ever, if the connection closed first.
   */
  override sendCommand(...[command, stream]: Parameters<Redis['sendCommand']>): unknown {
    const { status } = this;
    if (status === 'connect' && !isHandshake(command)) {
      this.status = 'connecting';
      try {
        return super.sendCommand(command, stream);
      } finally {
        this.status = status;
      }
    }
    if (command.name === 'info' && status !== 'ready') {
      const look = (info: unknown): void => {
        this.isLoading = /^loading:1\r?$/m.test(String(info));
      };
      (command.promise as Promise<unknown>).then(look, look);
    }
    return super.sendCommand(command, stream);
  }

  /** Drops the connection without waiting for the server, which may never answer; the client then reconnects. */
  hangUp(reason: string): void {
    this.stream?.destroy(new Error(reason));
  }
}

/** Does ioredis itself send it on a connection that isn't ready yet? */
function isHandshake({ name, args }: Parameters<Redis['sendCommand']>[0]): boolean {
  return /^(auth|hello|client|select|readonly)$/i.test(name) || (name === 'info' && args.length === 0);
}

/** A server that hasn't answered for this long counts as gone. */
const SILENT_MS = 15_000;
/** Between two looks whether a replica has become a master. */
const MASTER_LOOK_MS = 1_000;
const READ_ONLY = 'it is a replica, and takes no writes';
const LOADING = 'it is still loading its data';
const ASK_EVERY_MS = 5_000;
/** The longest wait between two attempts to reconnect. */
export const MOST_BETWEEN_TRIES_MS = 5_000;

/**
 * A connection to Redis that fails fast until first connected, then reconnects for ever. Commands sent while it is away wait,
 * and are sent again when it is back, so every script may run twice. A server that hangs counts as away, and so does one that
 * has become a read-only replica.
 */
export class RedisConnection {
  readonly redis: Redis;
  readonly #redis: BatchingRedis;
  readonly #log: Logger | undefined;
  #stood = false;
  #isLost = false;
  /** It has refused a write, as a replica does, and hasn't been seen as a master since. */
  #isReplica = false;
  /** Since when an answer has been awaited. */
  #askedAt: number | undefined;
  #watch: NodeJS.Timeout | undefined;
  /** The connection's last error. */
  #reason = 'the connection was closed';

  constructor(url: string, name: string, { events, log, waitsForMaster = false }: RedisConnectionOptions) {
    this.#log = log;
    this.#redis = new BatchingRedis(url, {
      lazyConnect: true,
      connectionName: name,
      connectTimeout: CONNECT_TIMEOUT_MS,
      maxRetriesPerRequest: null,
      retryStrategy: (times) => this.#delayBeforeTry(times),
      // A fail-over made this server a replica: reconnect, to find the new master.
      reconnectOnError: (error) => {
        if (!waitsForMaster || !error.message.startsWith('READONLY')) return false;
        this.#isReplica = true;
        this.#reason = READ_ONLY;
        return 2;
      },
    });
    this.redis = this.#redis;
    this.redis.on('connect', () => {
      this.#askedAt = performance.now();
    });
    this.redis.on('error', (error: unknown) => {
      this.#reason = messageOf(error);
      // Refused the database that was asked for, ioredis would work in database 0.
      if (isOfSelect(error)) this.#redis.hangUp(this.#reason);
    });
    this.redis.on('close', () => {
      this.#askedAt = undefined;
      if (!this.#stood) return;
      this.#isLost = true;
      events.lost(this.#reason);
    });
    this.redis.on('ready', () => {
      this.#askedAt = undefined;
      if (this.#isReplica) void this.#lookForMaster(restored);
      else restored();
    });
    const restored = (): void => {
      if (!this.#isLost) return;
      this.#isLost = false;
      events.restored();
    };
  }

  /** @throws ConfigurationError if this Redis would lose what it is given */
  async connect(): Promise<void> {
    this.#watch ??= setInterval(() => this.#listen(), ASK_EVERY_MS).unref();
    try {
      await this.redis.connect();
    } catch (error: unknown) {
      // The thrown error says only that the connection is closed.
      throw new Error(this.#reason, { cause: error });
    }
    try {
      await this.#check();
    } catch (error: unknown) {
      this.redis.disconnect();
      throw error;
    }
    this.#stood = true;
  }

  close(): void {
    this.#stood = false;
    clearInterval(this.#watch);
    this.#watch = undefined;
    this.redis.disconnect();
  }

  /** Nothing if there is to be no other try. */
  #delayBeforeTry(times: number): number | null {
    if (!this.#stood) return null;
    return this.#isReplica ? MASTER_LOOK_MS : Math.min(MOST_BETWEEN_TRIES_MS, 100 * 2 ** Math.min(times, 6));
  }

  /** Whatever is sent to a replica meanwhile waits again. */
  async #lookForMaster(found: () => void): Promise<void> {
    const info = await this.redis.info('replication').catch(() => '');
    if (!/^role:master/m.test(info)) return this.#redis.hangUp(READ_ONLY);
    this.#isReplica = false;
    found();
  }

  /** Hangs up on a server that has gone silent: TCP alone would wait for a quarter of an hour. */
  #listen(): void {
    if (this.#askedAt !== undefined) {
      if (performance.now() - this.#askedAt > SILENT_MS)
        this.#redis.hangUp(this.#redis.isLoading ? LOADING : `no answer for ${SILENT_MS / SECOND_MS} s`);
    } else if (this.redis.status === 'ready') {
      this.#askedAt = performance.now();
      const answered = (): void => {
        this.#askedAt = undefined;
      };
      this.redis.ping().then(answered, answered);
    }
  }

  async #check(): Promise<void> {
    for (const { problem, isFatal } of await redisProblems(this.redis)) {
      if (isFatal) throw new ConfigurationError([problem]);
      this.#log?.warn({}, problem);
    }
  }
}

/** Is it the answer to `SELECT`? */
export function isOfSelect(error: unknown): boolean {
  const { command } = error as { readonly command?: { readonly name?: string } };
  return command?.name === 'select';
}

/** Something about a Redis that could lose URLs; not fatal if only a crash would lose them. */
export interface RedisProblem {
  readonly problem: string;
  readonly isFatal: boolean;
}

/** What this kind of server says to whoever takes it for a single Redis, by its `redis_mode`. */
const OTHER_MODES: Readonly<Record<string, string>> = {
  cluster: 'Redis Cluster is not supported: one script touches many keys. Use a single Redis.',
  sentinel:
    'this is a Redis Sentinel, which keeps no data: name the Redis itself, or an address that follows its master.',
};

/** What makes a server unfit, whatever its configuration: its version, or its mode. */
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
  const unfit = await serverProblem(redis);
  if (unfit !== undefined) return [{ problem: unfit, isFatal: true }];
  try {
    return await configurationProblems(redis);
  } catch (error: unknown) {
    // It closed the connection: whoever asked has none any more.
    if (!(error instanceof ReplyError)) throw error;
    const problem = `Redis doesn't let its configuration be read (${messageOf(error)}): make sure that maxmemory-policy is noeviction and appendonly is yes`;
    return [{ problem, isFatal: false }];
  }
}

async function configurationProblems(redis: Redis): Promise<RedisProblem[]> {
  const problems: RedisProblem[] = [];
  const [, policy = ''] = (await redis.config('GET', 'maxmemory-policy')) as string[];
  if (policy !== 'noeviction') {
    const problem = `Redis may evict keys (maxmemory-policy is ${policy}), and with them URLs. Fix it: redis-cli config set maxmemory-policy noeviction`;
    problems.push({ problem, isFatal: true });
  }
  const [, appendonly = ''] = (await redis.config('GET', 'appendonly')) as string[];
  if (appendonly !== 'yes') {
    const problem =
      'Redis keeps no append-only file: a restart loses every URL. Fix it: redis-cli config set appendonly yes';
    problems.push({ problem, isFatal: false });
  }
  return problems;
}
