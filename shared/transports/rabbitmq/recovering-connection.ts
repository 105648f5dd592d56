import type { Duplex } from 'node:stream';
import { type Channel, type ChannelModel, connect, type RecoveringChannelModel } from 'amqplib';
import { batchWrites } from '../../runtime/batch-writes.ts';
import type { ClientTls } from '../../runtime/client-tls.ts';
import { CONNECT_TIMEOUT_MS } from '../../runtime/connect-timeout.ts';
import { codeOf, messageOf } from '../../runtime/errors.ts';
import { closed } from './closing.ts';
import { loginOf } from './login.ts';

/** How long a socket has to send its last bytes. */
const GOODBYE_MS = 1_000;
const MOST_BETWEEN_TRIES_MS = 10_000;
/** How long all that is built on a connection may take. */
const BUILD_WITHIN_MS = 30_000;
/** A broker says nothing of a queue whose nodes have no majority: it waits for them, for more than a minute. */
const UNANSWERED = 'it answers, but its queues do not: of a cluster, most nodes must be there';

/** Reports about a connection that comes and goes. */
export interface ConnectionEvents {
  lost(reason: string): void;
  restored(): void;
  blocked(reason: string | undefined): void;
}

export interface RecoveringOptions {
  readonly url: string;
  /** What TLS is spoken with, if the URL is of TLS; left out: without a client certificate, and by the issuers that Node.js trusts. */
  readonly tls?: ClientTls | undefined;
  /** Shown in the broker's list of connections. */
  readonly name: string;
  /** Unless the URL says otherwise: `amqp://…?heartbeat=10`. */
  readonly heartbeatSeconds: number;
  /** Builds channels and consumers on each new connection; AMQP calls only. */
  readonly build: (live: LiveConnection) => Promise<void>;
  /** How long that may take, other than the usual, for tests. */
  readonly buildWithinMs?: number;
  readonly events: ConnectionEvents;
}

/** A timer may fire a little before its time. */
const TIMER_SLACK_MS = 5;

/** amqplib keeps to itself what the broker said of it. */
const NOT_OPENED = 'Expected ConnectionOpenOk; got <ConnectionClose';
const NOT_OPENED_REASON =
  'it refuses the virtual host: that is gone, its user may not use it, or has too many connections (its log says which)';

/** Makes the end of a channel end its connection, so that everything is built anew, unless that end is expected. */
type Watch = <C extends Channel>(channel: C, isExpected?: () => boolean) => C;

/** A live connection, and how to watch the channels opened on it. */
export interface LiveConnection {
  readonly model: ChannelModel;
  readonly watch: Watch;
}

/**
 * One AMQP connection that reconnects. amqplib's own recovery rebuilds the connection; this guards it:
 *
 * - a socket that drops during `build` is an error like any other, not an uncaught exception;
 * - a socket whose other side has vanished is not kept;
 * - one that drops just after the last call of `build` doesn't leave us "connected" to a dead connection;
 * - a `build` that is never answered is given up, and said;
 * - a channel that dies takes its connection along: simple, and total.
 */
export class RecoveringConnection {
  readonly #options: RecoveringOptions;
  #connection: RecoveringChannelModel | undefined;
  #live: LiveConnection | undefined;
  /** When the next attempt begins, or the current one began, by `performance.now`; undefined while connected. */
  #attemptAt: number | undefined;
  /** Why a channel died that takes the connection along: of the connection itself, amqplib says only that it was closed. */
  #channelError: Error | undefined;

  constructor(options: RecoveringOptions) {
    this.#options = options;
  }

  /** The live connection, if there is one just now. */
  get live(): LiveConnection | undefined {
    return this.#live;
  }

  /** Connects once; rejects if that fails. From then on it reconnects for ever. */
  async start(): Promise<void> {
    const { url, tls, name, heartbeatSeconds, events } = this.#options;
    tls?.renew();
    const target = new URL(url);
    if (!target.searchParams.has('heartbeat')) target.searchParams.set('heartbeat', String(heartbeatSeconds));
    const connection = await connect(target.href, {
      ...tls?.options,
      timeout: CONNECT_TIMEOUT_MS,
      // Frames are small, and each is waited for: with Nagle's algorithm, an answer would take 40 ms.
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
    // If it is closed during an attempt, amqplib doesn't listen to errors of what it opens: a drop just then would be uncaught.
    if (attemptAt !== undefined && performance.now() > attemptAt - TIMER_SLACK_MS) await attempted(connection);
    const live = this.#live;
    this.#live = undefined;
    await Promise.race([connection.close(), ...(live === undefined ? [] : [closed(live.model)])]);
  }

  async #guardedBuild(model: ChannelModel): Promise<void> {
    let ended: Error | undefined;
    this.#channelError = undefined;
    batchWrites(socketOf(model));
    model.on('error', () => {});
    model.on('close', (error) => {
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
    await this.#answered(this.#options.build({ model, watch }), model);
    if (ended !== undefined) throw ended;
    this.#live = { model, watch };
  }

  async #answered(building: Promise<void>, model: ChannelModel): Promise<void> {
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(() => {
      late.reject(new Error(UNANSWERED));
      // It might not answer that it is to be closed, either.
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
 * amqplib only ends its own side of the connection: if the other side has vanished, the socket would stay half open until TCP
 * gives up, and keep the process alive.
 */
function destroySoon(model: ChannelModel): void {
  setTimeout(() => socketOf(model).destroy(), GOODBYE_MS).unref();
}

/** The socket, which amqplib's types leave out. */
export function socketOf({ connection }: ChannelModel): Duplex {
  return (connection as unknown as { readonly stream: Duplex }).stream;
}

/** Resolves when the attempt that is under way, or about to begin, has ended either way. */
function attempted(connection: RecoveringChannelModel): Promise<void> {
  return new Promise((resolve) => {
    connection.once('connect', () => resolve());
    connection.once('connect-failed', () => resolve());
  });
}

/** Why a connection failed, without the credentials that its URL may hold. */
export function reasonOf(error: unknown): string {
  const message = messageOf(error).replaceAll(/\/\/[^@/\s]*@/g, '//');
  if (message.startsWith(NOT_OPENED)) return NOT_OPENED_REASON;
  const code = codeOf(error);
  return code === undefined || message.includes(code) ? message : `${code}: ${message}`;
}
