import type { Duplex } from 'node:stream';
import { type Channel, type ChannelModel, connect, type RecoveringChannelModel } from 'amqplib';
import { batchWrites } from '../../runtime/batch-writes.ts';
import type { ClientTls } from '../../runtime/client-tls.ts';
import { CONNECT_TIMEOUT_MS } from '../../runtime/connect-timeout.ts';
import { codeOf, messageOf, TrawlError } from '../../runtime/errors.ts';
import { closed } from './closing.ts';
import { loginOf } from './login.ts';
import { readTooLarge, tooLargeText } from './size-limit.ts';

/** Time in which a socket can send its last bytes. */
const GOODBYE_MS = 1_000;
const MOST_BETWEEN_TRIES_MS = 10_000;
/** Longest time to build everything on a new connection. */
const BUILD_WITHIN_MS = 30_000;
/** A broker doesn't answer for a queue whose nodes have no majority. It waits for them, for more than a minute. */
const UNANSWERED = 'it answers, but its queues do not: in a cluster, most nodes must be up';

/** Reports about a connection that comes and goes. */
export interface ConnectionEvents {
  lost(reason: string): void;
  restored(): void;
  blocked(reason: string | undefined): void;
}

export interface RecoveringOptions {
  readonly url: string;
  /** Certificates for TLS, if the URL requires it. Defaults to no client certificate, and the issuers that Node.js trusts. */
  readonly tls?: ClientTls | undefined;
  /** Shown in the broker's list of connections. */
  readonly name: string;
  /** Overridden by the URL, if it has one: `amqp://…?heartbeat=10`. */
  readonly heartbeatSeconds: number;
  /** Builds channels and consumers on each new connection. Must make only AMQP calls. */
  readonly build: (live: LiveConnection) => Promise<void>;
  /** Longest time for `build`, for tests. */
  readonly buildWithinMs?: number;
  readonly events: ConnectionEvents;
}

/** How much too early a timer can fire. */
const TIMER_SLACK_MS = 5;

/** amqplib's error when the broker refuses the virtual host. It does not pass on the broker's reason. */
const NOT_OPENED = 'Expected ConnectionOpenOk; got <ConnectionClose';
const NOT_OPENED_REASON =
  'it refuses the virtual host: it no longer exists, its user may not use it, or it has too many connections (its log says which)';

/** amqplib's error for a connection that has as many channels as the broker allows. */
const NO_CHANNEL = 'No channels left to allocate';
const NO_CHANNEL_REASON =
  'it allows too few channels for a connection: raise its channel_max, or channelMax in RABBITMQ_URL';

/** Makes the end of a channel end its connection, so that everything is rebuilt, unless that end is expected. */
type Watch = <C extends Channel>(channel: C, isExpected?: () => boolean) => C;

/** A live connection, and how to watch the channels opened on it. */
export interface LiveConnection {
  readonly model: ChannelModel;
  readonly watch: Watch;
}

/**
 * An AMQP connection that reconnects by itself. amqplib's own recovery rebuilds the connection, and this class adds safeguards:
 *
 * - a socket that drops during `build` is an error like any other, not an uncaught exception;
 * - a socket whose other side has vanished is not kept;
 * - a socket that drops just after the last call of `build` doesn't leave us "connected" to a dead connection;
 * - a `build` that is never answered is given up and reported;
 * - a channel that dies takes its connection along, so there is only one kind of recovery: a complete one.
 */
export class RecoveringConnection {
  readonly #options: RecoveringOptions;
  #connection: RecoveringChannelModel | undefined;
  #live: LiveConnection | undefined;
  /** When the next attempt begins, or the current one began, by `performance.now`; `undefined` while connected. */
  #attemptAt: number | undefined;
  /** The error of a channel that took the connection along. For the connection itself, amqplib reports only that it was closed. */
  #channelError: Error | undefined;

  constructor(options: RecoveringOptions) {
    this.#options = options;
  }

  /** The live connection, if there is one at the moment. */
  get live(): LiveConnection | undefined {
    return this.#live;
  }

  /** Connects, and rejects if that fails. Once connected, it reconnects for ever. */
  async start(): Promise<void> {
    const { url, tls, name, heartbeatSeconds, events } = this.#options;
    tls?.renew();
    const target = new URL(url);
    if (!target.searchParams.has('heartbeat')) target.searchParams.set('heartbeat', String(heartbeatSeconds));
    const connection = await connect(target.href, {
      ...tls?.options,
      timeout: CONNECT_TIMEOUT_MS,
      // Frames are small, and each one is awaited. With Nagle's algorithm, an answer would take 40 ms.
      noDelay: true,
      clientProperties: { connection_name: name },
      credentials: loginOf(target),
      recovery: {
        waitForConnect: false,
        initialMaxRetries: 0,
        initialDelay: 250,
        maxDelay: MOST_BETWEEN_TRIES_MS,
        setup: (model: ChannelModel) => this.#guardedBuild(model),
      },
    });
    connection.on('error', () => {});
    connection.on('handler-error', (error: Error) => events.lost(`a listener failed: ${error.message}`));
    connection.on('blocked', (reason) => events.blocked(reason));
    connection.on('unblocked', () => events.blocked(undefined));
    connection.on('disconnect', (error) => {
      this.#live = undefined;
      events.blocked(undefined);
      events.lost(reasonOf(this.#channelError ?? error));
    });
    this.#connection = connection;
    try {
      await connection.waitForConnect();
    } catch (error: unknown) {
      await connection.close();
      throw error;
    }
    connection.on('reconnect-scheduled', ({ delay }) => {
      this.#attemptAt = performance.now() + delay;
      tls?.renew();
    });
    connection.on('connect', () => {
      this.#attemptAt = undefined;
      events.restored();
    });
    connection.on('connect-failed', (error: Error) => events.lost(reasonOf(error)));
  }

  async stop(): Promise<void> {
    const connection = this.#connection;
    if (connection === undefined) return;
    this.#connection = undefined;
    const attemptAt = this.#attemptAt;
    this.#attemptAt = undefined;
    // If closed during an attempt, amqplib ignores the socket's error events, so a dropped socket would throw an uncaught error.
    if (attemptAt !== undefined && performance.now() > attemptAt - TIMER_SLACK_MS) await attempted(connection);
    const live = this.#live;
    this.#live = undefined;
    await Promise.race([connection.close(), ...(live === undefined ? [] : [closed(live.model)])]);
  }

  async #guardedBuild(model: ChannelModel): Promise<void> {
    let ended: Error | undefined;
    let brokersReason: Error | undefined;
    this.#channelError = undefined;
    batchWrites(socketOf(model));
    model.on('error', () => {});
    model.on('close', (error) => {
      brokersReason = error;
      ended = error ?? new Error('the connection was closed');
      destroySoon(model);
    });
    const watch: Watch = (channel, isExpected = () => false) => {
      let cause: Error | undefined;
      channel.on('error', (error) => {
        cause = error;
      });
      channel.on('close', () => {
        if (isExpected()) return;
        // A connection that is lost closes its channels first, and says why right after.
        queueMicrotask(() => {
          if (ended !== undefined) return;
          ended = cause ?? new Error('a channel was closed');
          this.#channelError = ended;
          model.close().catch(() => {});
        });
      });
      return channel;
    };
    try {
      await this.#answered(this.#options.build({ model, watch }), model);
    } catch (error: unknown) {
      // If the broker closes the connection, amqplib lets the call under way fail without its reason.
      throw brokersReason ?? error;
    }
    if (ended !== undefined) throw ended;
    this.#live = { model, watch };
  }

  async #answered(building: Promise<void>, model: ChannelModel): Promise<void> {
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(() => {
      late.reject(new Error(UNANSWERED));
      // The broker might not answer a request to close, either.
      socketOf(model).destroy(new Error(UNANSWERED));
    }, this.#options.buildWithinMs ?? BUILD_WITHIN_MS);
    try {
      await Promise.race([building, late.promise]);
    } finally {
      clearTimeout(timer);
    }
  }
}

/**
 * Destroys a connection's socket shortly after it has ended. amqplib only ends its own side: if the other side has vanished, the
 * socket would stay half open until TCP gives up, and keep the process alive.
 */
function destroySoon(model: ChannelModel): void {
  setTimeout(() => socketOf(model).destroy(), GOODBYE_MS).unref();
}

/** Returns a connection's socket, which amqplib's types leave out. */
export function socketOf({ connection }: ChannelModel): Duplex {
  return (connection as unknown as { readonly stream: Duplex }).stream;
}

/** Resolves when the attempt that is under way or about to begin has succeeded or failed. */
function attempted(connection: RecoveringChannelModel): Promise<void> {
  return new Promise((resolve) => {
    connection.once('connect', () => resolve());
    connection.once('connect-failed', () => resolve());
  });
}

/** Was a channel refused because the connection has as many as the broker, or the URL, allows? */
export function isOutOfChannels(error: unknown): boolean {
  return messageOf(error) === NO_CHANNEL;
}

/** Returns the reason why a connection failed, without any credentials from its URL. */
export function reasonOf(error: unknown): string {
  const message = messageOf(error).replaceAll(/\/\/[^@/\s]*@/g, '//');
  if (message.startsWith(NOT_OPENED)) return NOT_OPENED_REASON;
  if (isOutOfChannels(error)) return NO_CHANNEL_REASON;
  const tooLarge = readTooLarge(error);
  if (tooLarge !== undefined) return tooLargeText(tooLarge);
  const code = codeOf(error);
  return code === undefined || error instanceof TrawlError || message.includes(code) ? message : `${code}: ${message}`;
}
