import type { Channel } from 'amqplib';
import type {
  DeadLetterMessage,
  Destination,
  LetterJudge,
  QueueDepths,
  QueueInspector,
} from '../../ports/transport.ts';
import { TrawlError, UnavailableError } from '../../runtime/errors.ts';
import { close, isRefusal } from './closing.ts';
import { lettersBack, type SiftOptions, siftLetters } from './letters.ts';
import { whileReading } from './reading-lock.ts';
import { isOutOfChannels, type LiveConnection, type RecoveringConnection, reasonOf } from './recovering-connection.ts';
import type { QueueDeclaration } from './topology.ts';

/** The queue doesn't exist. */
const NOT_FOUND = 404;

interface InspectorOptions {
  /** Opened and closed by the caller. */
  readonly connection: RecoveringConnection;
  readonly queues: readonly QueueDeclaration[];
}

/**
 * Inspects queues, on a new channel each time. Declares no queue that anyone else can see. A queue that isn't declared counts as
 * empty.
 */
export class RabbitMqInspector implements QueueInspector {
  readonly #connection: RecoveringConnection;
  readonly #queues: readonly QueueDeclaration[];
  /** Settles with the most recently started reading of dead letters. */
  #lastLook: Promise<unknown> = Promise.resolve();

  constructor({ connection, queues }: InspectorOptions) {
    this.#connection = connection;
    this.#queues = queues;
  }

  async depths(): Promise<QueueDepths> {
    const depths: Partial<Record<Destination, { ready: number; consumers: number }>> = {};
    for (const { destination, name } of this.#queues) {
      depths[destination] = await this.#onOwnChannel((channel) => depthOf(channel, name), { ready: 0, consumers: 0 });
    }
    return depths as QueueDepths;
  }

  async browse(limit: number): Promise<readonly DeadLetterMessage[]> {
    const found: DeadLetterMessage[] = [];
    const keepAll: LetterJudge = async (letters) => {
      found.push(...letters);
      return [];
    };
    await this.#sift(keepAll, { most: limit });
    return found;
  }

  async sift(judge: LetterJudge, signal?: AbortSignal): Promise<void> {
    await this.#sift(judge, { signal });
  }

  async #sift(judge: LetterJudge, options: SiftOptions): Promise<void> {
    for (const { destination, name } of this.#queues) {
      if (destination !== 'failed') continue;
      const look = this.#lastLook.then(() => this.#siftAlone(name, judge, options));
      this.#lastLook = look.catch(() => {});
      await look;
    }
  }

  /** Reads once no one else does, within this process and across processes. */
  #siftAlone(queue: string, judge: LetterJudge, options: SiftOptions): Promise<void> {
    return this.#onLive((live) =>
      whileReading(live, queue, async () => {
        const whole = await this.#onOwnChannel((channel) => siftLetters(channel, queue, judge, options), 0);
        if (whole > 0) await this.#onOwnChannel((channel) => lettersBack(channel, queue, whole), undefined);
      }),
    );
  }

  /** @param none the result for a queue that doesn't exist */
  async #onOwnChannel<T>(use: (channel: Channel) => Promise<T>, none: T): Promise<T> {
    return this.#onLive(async ({ model }) => {
      const channel = await model.createChannel();
      channel.on('error', () => {});
      try {
        return await use(channel);
      } catch (error: unknown) {
        if (isRefusal(error, NOT_FOUND)) return none;
        throw error;
      } finally {
        await close(channel);
      }
    });
  }

  async #onLive<T>(use: (live: LiveConnection) => Promise<T>): Promise<T> {
    const { live } = this.#connection;
    if (live === undefined) throw new UnavailableError('RabbitMQ is not connected right now; reconnecting.');
    try {
      return await use(live);
    } catch (error: unknown) {
      if (isOutOfChannels(error)) throw new UnavailableError(`RabbitMQ: ${reasonOf(error)}`, { cause: error });
      // The connection has died in the meantime. Whatever amqplib's error says, the remedy is to try again.
      if (this.#connection.live === live || error instanceof TrawlError) throw error;
      throw new UnavailableError('The connection to RabbitMQ was lost. Everything done so far is kept: try again.', {
        cause: error,
      });
    }
  }
}

async function depthOf(channel: Channel, queue: string): Promise<QueueDepths[Destination]> {
  const { messageCount, consumerCount } = await channel.checkQueue(queue);
  return { ready: messageCount, consumers: consumerCount };
}
