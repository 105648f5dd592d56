import type { Redis } from 'ioredis';
import type { ClientTls } from '../../runtime/client-tls.ts';
import { CONNECT_TIMEOUT_MS } from '../../runtime/connect-timeout.ts';
import { ConfigurationError, messageOf, NotNowError } from '../../runtime/errors.ts';
import type { Logger } from '../../runtime/logger.ts';
import { SECOND_MS } from '../../task/durations.ts';
import { BatchingRedis } from './client/batching-redis.ts';
import { refusalAtAccept } from './client/refusal-at-accept.ts';
import { noWritesReason, temporaryRefusal } from './client/temporary-refusals.ts';
import { evictionProblem, redisProblems } from './server-problems.ts';
import { tlsOf } from './tls.ts';

/** Reports about the connection, after it was first made. */
export interface RedisEvents {
  /** Also called after each failed attempt to reconnect, since its reason may differ. */
  lost(reason: string): void;
  restored(): void;
  /** The server answers nothing at the moment, though the connection is up. Not set where nobody waits for an answer. */
  silent?(): void;
  /** A silent server answers again before it counted as gone. */
  answering?(): void;
}

interface RedisConnectionOptions {
  readonly events: RedisEvents;
  /** Logs warnings about settings with which only a crash loses data; no warnings by default. */
  readonly log?: Logger | undefined;
  /** TLS options for a `rediss://` URL. By default there is no client certificate, and Node.js' own issuers are trusted. */
  readonly tls?: ClientTls | undefined;
  /** Whether to wait for a server that takes no writes until it does. By default, its refusal is an error. */
  readonly waitsForWrites?: boolean | undefined;
  /** With `waitsForWrites`: throws if the user lacks rights. By default, they are not checked. */
  readonly checkRights?: ((redis: Redis) => Promise<void>) | undefined;
}

/** A server that hasn't answered for this long counts as gone. */
const SILENT_MS = 15_000;
/** Interval between two checks whether a server that was reached can be used. */
const UNFIT_LOOK_MS = 1_000;
/** A script that writes nothing, but is refused whenever writes are, since it has no `no-writes` flag. */
const WRITE_PROBE = '#!lua flags=allow-oom\nreturn 1';
const LOADING = 'it is still loading its data';
const CLOSED = 'the connection was closed';
const ASK_EVERY_MS = 5_000;
/** The same where somebody waits for answers: a silent server is noticed within four seconds. */
const ASK_SOON_MS = 1_000;
/** A server that hasn't answered for this long counts as silent: a script of ours takes half a second at most. */
const UNANSWERED_MS = 2_500;
/** The longest wait between two attempts to reconnect. */
export const MOST_BETWEEN_TRIES_MS = 5_000;

/**
 * A connection to Redis that fails fast until first connected, then reconnects for ever. Commands sent while the server is unreachable
 * wait, and are sent again when it is back, so every script may run twice. A server that hangs counts as unreachable, and so does one
 * that is busy with a script of somebody else, takes no writes (it has become a replica, its disk is full, it has lost its own replicas,
 * its user has lost a right), or whose configuration no longer keeps data.
 */
export class RedisConnection {
  readonly redis: Redis;
  readonly #redis: BatchingRedis;
  readonly #log: Logger | undefined;
  readonly #events: RedisEvents;
  readonly #checkRights: RedisConnectionOptions['checkRights'];
  #stood = false;
  #isLost = false;
  /** Whether the server could not be used when it was last reached. */
  #isUnfit = false;
  readonly #toldProblems = new Set<string>();
  /** When the current wait for an answer began. */
  #askedAt: number | undefined;
  #isSilent = false;
  #watch: NodeJS.Timeout | undefined;
  /** The last error since the server was last reached. */
  #reason = CLOSED;

  constructor(
    url: string,
    name: string,
    { events, log, tls, waitsForWrites = false, checkRights }: RedisConnectionOptions,
  ) {
    this.#log = log;
    this.#events = events;
    this.#checkRights = checkRights;
    this.#redis = new BatchingRedis(url, {
      ...tlsOf(url, tls),
      lazyConnect: true,
      connectionName: name,
      connectTimeout: CONNECT_TIMEOUT_MS,
      maxRetriesPerRequest: null,
      retryStrategy: (times) => this.#delayBeforeTry(times),
      // Reconnects and sends the command again (2), to find the new master after a fail-over.
      reconnectOnError: (error) => {
        // A refusal before that ends the connection anyway.
        if (!this.#stood || this.redis.status !== 'ready') return false;
        const reason = waitsForWrites ? noWritesReason(error) : undefined;
        if (reason === undefined || isOfProbe(error)) return false;
        this.#isUnfit = true;
        this.#reason = reason;
        return 2;
      },
    });
    this.redis = this.#redis;
    // Before ioredis opens a socket, which it does in a later turn.
    this.redis.on('connecting', () => tls?.renew());
    this.redis.on('connect', () => {
      this.#askedAt = performance.now();
    });
    this.redis.on('error', (error: unknown) => {
      this.#reason = messageOf(error);
      // If the server refuses the chosen database, ioredis would work in database 0.
      if (isOfSelect(error)) this.#redis.hangUp(this.#reason);
    });
    this.redis.on('close', () => {
      this.#askedAt = undefined;
      this.#isSilent = false;
      if (!this.#stood) return;
      this.#isLost = true;
      events.lost(this.#redis.refusal ?? this.#reason);
      this.#tellRefusal();
    });
    this.redis.on('ready', async () => {
      this.#askedAt = undefined;
      if (!this.#isLost || !(await this.#isFit(waitsForWrites)) || !this.#isLost) return;
      this.#isLost = false;
      this.#reason = CLOSED;
      events.restored();
    });
  }

  /**
   * @throws ConfigurationError if this Redis can't be used, because it may evict keys, say
   * @throws NotNowError if it can't be used for now
   */
  async connect(): Promise<void> {
    const everyMs = this.#events.silent === undefined ? ASK_EVERY_MS : ASK_SOON_MS;
    this.#watch ??= setInterval(() => this.#listen(), everyMs).unref();
    try {
      await this.redis.connect();
    } catch (error: unknown) {
      // The thrown error says only that the connection is closed.
      const refusal = this.#reason === LOADING ? LOADING : await this.#refusal();
      throw refusal === undefined
        ? new Error(this.#reason, { cause: error })
        : new NotNowError(refusal, { cause: error });
    }
    try {
      await this.#check();
    } catch (error: unknown) {
      this.redis.disconnect();
      const refusal = temporaryRefusal(error);
      throw refusal === undefined ? error : new NotNowError(refusal, { cause: error });
    }
    this.#stood = true;
    this.#reason = CLOSED;
  }

  close(): void {
    this.#stood = false;
    clearInterval(this.#watch);
    this.#watch = undefined;
    this.redis.disconnect();
  }

  /** Returns why the server refuses connections for now; `undefined` if it gives no reason. */
  async #refusal(): Promise<string | undefined> {
    return this.#redis.refusal ?? (await refusalAtAccept(this.#reason, this.#redis.options));
  }

  /** Reports a lost connection once more, if the server gives a reason why there can be no other for now. */
  async #tellRefusal(): Promise<void> {
    const refusal = await this.#refusal();
    if (refusal !== undefined && refusal !== this.#redis.refusal && this.#isLost) this.#events.lost(refusal);
  }

  /** Milliseconds until the next attempt; null for none. */
  #delayBeforeTry(times: number): number | null {
    if (!this.#stood) return null;
    return this.#isUnfit ? UNFIT_LOOK_MS : Math.min(MOST_BETWEEN_TRIES_MS, 100 * 2 ** Math.min(times, 6));
  }

  /**
   * Checks a server that is back. It may have been restarted with another configuration, or be another server. Hangs up if it can't be
   * used: all other commands then wait again.
   */
  async #isFit(mustTakeWrites: boolean): Promise<boolean> {
    try {
      if (mustTakeWrites) {
        await this.redis.eval(WRITE_PROBE, 0);
        await this.#checkRights?.(this.redis);
      }
      await this.#check();
      this.#isUnfit = false;
    } catch (error: unknown) {
      this.#isUnfit = true;
      this.#redis.hangUp(noWritesReason(error) ?? `it has changed: ${messageOf(error)}`);
    }
    return !this.#isUnfit;
  }

  #listen(): void {
    if (this.#askedAt !== undefined) {
      // If this process was busy, answers may have arrived that it hasn't read.
      setImmediate(() => this.#judgeSilence());
    } else if (this.redis.status === 'ready') {
      this.#askedAt = performance.now();
      const answered = (): void => {
        this.#askedAt = undefined;
        if (!this.#isSilent) return;
        this.#isSilent = false;
        this.#events.answering?.();
      };
      const asked = this.redis.ping().then(answered, answered);
      asked.then(() => this.#lookForEviction()).catch(() => {});
    }
  }

  /** Hangs up on a server that was told to evict keys while it was in use. It is then refused until that is undone. */
  async #lookForEviction(): Promise<void> {
    if (!this.#stood || this.#isLost) return;
    const problem = await evictionProblem(this.redis);
    if (problem === undefined || this.#isLost) return;
    this.#isUnfit = true;
    this.#redis.hangUp(`it has changed: ${problem}`);
  }

  /**
   * Hangs up on a server that has gone silent: TCP alone would wait for a quarter of an hour. One that is loading its data has said so, and
   * is asked again later.
   */
  #judgeSilence(): void {
    if (this.#askedAt === undefined) return;
    const silentMs = performance.now() - this.#askedAt;
    if (this.#redis.isLoading && silentMs > UNANSWERED_MS) this.#redis.hangUp(LOADING);
    else if (silentMs > SILENT_MS) this.#redis.hangUp(`no answer for ${SILENT_MS / SECOND_MS} s`);
    else if (silentMs > UNANSWERED_MS && this.#stood && !this.#isLost && !this.#isSilent) {
      this.#isSilent = true;
      this.#events.silent?.();
    }
  }

  async #check(): Promise<void> {
    for (const { problem, isFatal } of await redisProblems(this.redis)) {
      if (isFatal) throw new ConfigurationError([problem]);
      if (!this.#toldProblems.has(problem)) this.#log?.warn({}, problem);
      this.#toldProblems.add(problem);
    }
  }
}

/** The command that a server has answered with an error. */
interface Refused {
  readonly command?: { readonly name?: string; readonly args?: readonly unknown[] };
}

/** Is it the answer to `SELECT`? */
export function isOfSelect(error: unknown): boolean {
  return (error as Refused).command?.name === 'select';
}

function isOfProbe(error: unknown): boolean {
  return (error as Refused).command?.args?.[0] === WRITE_PROBE;
}
