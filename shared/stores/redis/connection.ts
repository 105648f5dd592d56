import { Redis, type RedisOptions } from 'ioredis';
import { batchWrites } from '../../runtime/batch-writes.ts';
import type { ClientTls } from '../../runtime/client-tls.ts';
import { CONNECT_TIMEOUT_MS } from '../../runtime/connect-timeout.ts';
import { ConfigurationError, messageOf } from '../../runtime/errors.ts';
import type { Logger } from '../../runtime/logger.ts';
import { SECOND_MS } from '../../task/durations.ts';
import { NO_RIGHTS } from './rights/commands.ts';
import { redisProblems } from './server-problems.ts';
import { tlsOf } from './tls.ts';

/** Reports about the connection, after it was first made. */
export interface RedisEvents {
  /** Also after each vain attempt to reconnect: its reason may be another one. */
  lost(reason: string): void;
  restored(): void;
  /** It answers nothing just now, though the connection stands. Left out where nobody waits for an answer. */
  silent?(): void;
  /** A silent one answers again, before it counted as gone. */
  answering?(): void;
}

interface RedisConnectionOptions {
  readonly events: RedisEvents;
  /** Where that is said which only a crash would lose; left out where nobody is to be told. */
  readonly log?: Logger | undefined;
  /** What TLS is spoken with, if the URL is of TLS; left out: without a client certificate, and by the issuers that Node.js trusts. */
  readonly tls?: ClientTls | undefined;
  /** Is a server that takes no writes waited for until it does? Default: no, its refusal is an error. */
  readonly waitsForWrites?: boolean | undefined;
  /** Of one that waits: throws what its user lacks. Default: nothing is looked at. */
  readonly checkRights?: ((redis: Redis) => Promise<void>) | undefined;
}

/** A Redis client that sends commands in batches, and can hang up. */
export class BatchingRedis extends Redis {
  /** Did the server say, when it was last asked, that it still reads its data from disk? It answers nothing else meanwhile. */
  isLoading = false;
  #isReconnecting = false;

  constructor(url: string, options: RedisOptions) {
    super(url, options);
    this.on('close', () => {
      this.#isReconnecting = false;
    });
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

  /** Once for a connection: ioredis asks for it with each answer that is a reason to reconnect, and each time adds a listener to the socket. */
  override disconnect(reconnects = false): void {
    if (reconnects && this.#isReconnecting) return;
    this.#isReconnecting = reconnects;
    super.disconnect(reconnects);
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
/** Between two looks whether a server that was reached can be worked with. */
const UNFIT_LOOK_MS = 1_000;
/** Why a server takes no writes at all, by how its answer begins. One that is full (`OOM`) is none of these: what drains it goes on. */
const NO_WRITES: readonly (readonly [answer: string, reason: string])[] = [
  ['READONLY', 'it is a replica, and takes no writes'],
  ['MISCONF', "it can't save its data, and takes no writes until it can: is its disk full? Its log says why (MISCONF)"],
  [
    'NOREPLICAS',
    'it has too few replicas, and takes no writes until they are back (NOREPLICAS, min-replicas-to-write)',
  ],
  [NO_RIGHTS, 'its user lacks a right'],
];
/** Writes nothing, but is refused whenever writing is: it doesn't say that it doesn't. */
const WRITE_PROBE = '#!lua flags=allow-oom\nreturn 1';
const LOADING = 'it is still loading its data';
const CLOSED = 'the connection was closed';
const ASK_EVERY_MS = 5_000;
/** The same where somebody waits for answers: whether the server gives any is known within four seconds. */
const ASK_SOON_MS = 1_000;
/** A server that hasn't answered for this long counts as silent: a script of ours takes half a second at most. */
const UNANSWERED_MS = 2_500;
/** The longest wait between two attempts to reconnect. */
export const MOST_BETWEEN_TRIES_MS = 5_000;

/**
 * A connection to Redis that fails fast until first connected, then reconnects for ever. Commands sent while it is away wait,
 * and are sent again when it is back, so every script may run twice. A server that hangs counts as away, and so does one that
 * takes no writes (it has become a replica, its disk is full, it has lost its own replicas, its user has lost a right), or would now
 * lose what it is given.
 */
export class RedisConnection {
  readonly redis: Redis;
  readonly #redis: BatchingRedis;
  readonly #log: Logger | undefined;
  readonly #events: RedisEvents;
  readonly #checkRights: RedisConnectionOptions['checkRights'];
  #stood = false;
  #isLost = false;
  /** When it was last reached, it could not be worked with. */
  #isUnfit = false;
  readonly #toldProblems = new Set<string>();
  /** Since when an answer has been awaited. */
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
      // Reconnect, and send it again: after a fail-over, to find the new master.
      reconnectOnError: (error) => {
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
      // Refused the database that was asked for, ioredis would work in database 0.
      if (isOfSelect(error)) this.#redis.hangUp(this.#reason);
    });
    this.redis.on('close', () => {
      this.#askedAt = undefined;
      this.#isSilent = false;
      if (!this.#stood) return;
      this.#isLost = true;
      events.lost(this.#reason);
    });
    this.redis.on('ready', async () => {
      this.#askedAt = undefined;
      if (!this.#isLost || !(await this.#isFit(waitsForWrites)) || !this.#isLost) return;
      this.#isLost = false;
      this.#reason = CLOSED;
      events.restored();
    });
  }

  /** @throws ConfigurationError if this Redis would lose what it is given */
  async connect(): Promise<void> {
    const everyMs = this.#events.silent === undefined ? ASK_EVERY_MS : ASK_SOON_MS;
    this.#watch ??= setInterval(() => this.#listen(), everyMs).unref();
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
    this.#reason = CLOSED;
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
    return this.#isUnfit ? UNFIT_LOOK_MS : Math.min(MOST_BETWEEN_TRIES_MS, 100 * 2 ** Math.min(times, 6));
  }

  /**
   * Looks at a server that is back. It may have been restarted with another configuration, or be another one. If it can't be worked
   * with, it is hung up on: whatever else is sent to it waits again.
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
      // After the process itself was busy, answers may be there that it hasn't read.
      setImmediate(() => this.#judgeSilence());
    } else if (this.redis.status === 'ready') {
      this.#askedAt = performance.now();
      const answered = (): void => {
        this.#askedAt = undefined;
        if (!this.#isSilent) return;
        this.#isSilent = false;
        this.#events.answering?.();
      };
      this.redis.ping().then(answered, answered);
    }
  }

  /** Hangs up on a server that has gone silent: TCP alone would wait for a quarter of an hour. */
  #judgeSilence(): void {
    if (this.#askedAt === undefined) return;
    const silentMs = performance.now() - this.#askedAt;
    if (silentMs > SILENT_MS)
      this.#redis.hangUp(this.#redis.isLoading ? LOADING : `no answer for ${SILENT_MS / SECOND_MS} s`);
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

function noWritesReason(error: unknown): string | undefined {
  return NO_WRITES.find(([answer]) => messageOf(error).startsWith(answer))?.[1];
}
