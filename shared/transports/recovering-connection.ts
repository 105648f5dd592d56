import { type Channel, type ChannelModel, connect, type RecoveringChannelModel } from 'amqplib';
import { codeOf, messageOf } from '../errors.ts';
import { closed } from './farewell.ts';

/** What is told about a connection while it comes and goes. */
export interface ConnectionEvents {
  lost(reason: string): void;
  restored(): void;
  blocked(reason: string | undefined): void;
}

export interface RecoveringOptions {
  readonly url: string;
  /** Shown in the broker's list of connections. */
  readonly name: string;
  readonly heartbeatSeconds: number;
  /** Builds channels and consumers on each new connection; AMQP calls only. */
  readonly build: (live: LiveConnection) => Promise<void>;
  readonly events: ConnectionEvents;
}

/** Lets the end of a channel end its connection, so that everything is built anew, unless that end is expected. */
export type Watch = <C extends Channel>(channel: C, isExpected?: () => boolean) => C;

/** A live connection, and how to watch the channels opened on it. */
export interface LiveConnection {
  readonly model: ChannelModel;
  readonly watch: Watch;
}

/**
 * One AMQP connection that comes back. amqplib's own recovery rebuilds the connection; around it stands a guard:
 *
 * - a socket that drops during `build` is an error like any other, not an uncaught exception;
 * - one that drops just after the last call of `build` doesn't leave us "connected" to a dead connection;
 * - a channel that dies takes its connection along: simple, and total.
 */
export class RecoveringConnection {
  readonly #options: RecoveringOptions;
  #connection: RecoveringChannelModel | undefined;
  #live: LiveConnection | undefined;

  constructor(options: RecoveringOptions) {
    this.#options = options;
  }

  /** The live connection, if there is one just now. */
  get live(): LiveConnection | undefined {
    return this.#live;
  }

  /** Connects once; rejects if that fails. From then on it reconnects for ever. */
  async start(): Promise<void> {
    const { url, name, heartbeatSeconds, events } = this.#options;
    const target = new URL(url);
    target.searchParams.set('heartbeat', String(heartbeatSeconds));
    const connection = await connect(target.href, {
      timeout: 10_000,
      // Small frames, each waited for: held back for company, an answer would take 40 ms.
      noDelay: true,
      clientProperties: { connection_name: name },
      recovery: {
        waitForConnect: false,
        initialMaxRetries: 0,
        initialDelay: 250,
        maxDelay: 10_000,
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
      events.lost(reasonOf(error));
    });
    this.#connection = connection;
    try {
      await connection.waitForConnect();
    } catch (error: unknown) {
      await connection.close();
      throw error;
    }
    connection.on('connect', () => events.restored());
    connection.on('connect-failed', (error: Error) => events.lost(reasonOf(error)));
  }

  async stop(): Promise<void> {
    const live = this.#live;
    this.#live = undefined;
    await Promise.race([this.#connection?.close(), ...(live === undefined ? [] : [closed(live.model)])]);
  }

  async #guardedBuild(model: ChannelModel): Promise<void> {
    let ended: Error | undefined;
    model.on('error', () => {});
    model.on('close', (error) => {
      ended = error ?? new Error('the connection was closed');
    });
    const watch: Watch = (channel, isExpected = () => false) => {
      let cause: Error | undefined;
      channel.on('error', (error) => {
        cause = error;
      });
      channel.on('close', () => {
        if (ended !== undefined || isExpected()) return;
        ended = cause ?? new Error('a channel was closed');
        model.close().catch(() => {});
      });
      return channel;
    };
    await this.#options.build({ model, watch });
    if (ended !== undefined) throw ended;
    this.#live = { model, watch };
  }
}

/** Why a connection can't be had, without the credentials that its URL may hold. */
export function reasonOf(error: unknown): string {
  const message = messageOf(error).replaceAll(/\/\/[^@/\s]*@/g, '//');
  const code = codeOf(error);
  return code === undefined || message.includes(code) ? message : `${code}: ${message}`;
}
