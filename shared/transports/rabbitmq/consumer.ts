import { setTimeout } from 'node:timers/promises';
import type { Channel, ConsumeMessage } from 'amqplib';
import type { AckMode, Consumer, Handler } from '../../ports/transport.ts';
import type { Queue } from '../../task/task/routing.ts';
import { allowedHeaders } from '../message-headers.ts';
import { close } from './closing.ts';
import type { LiveConnection } from './recovering-connection.ts';

interface RabbitMqConsumerOptions {
  readonly queue: Queue;
  /** The queue's name on the broker. */
  readonly name: string;
  readonly prefetch: number;
  readonly ack: AckMode;
  readonly handler: Handler;
  /** Time without a delivery after which it takes a new channel. */
  readonly renewMs: number;
  readonly onStop: () => void;
  /** Called when it takes a new channel because its queue holds `ready` messages and the broker delivered none. */
  readonly onStalled: (ready: number) => void;
}

/** A consumer counts as stalled if messages are still in the queue after this time and none was delivered. */
const STALLED_AFTER_MS = 1_000;

/**
 * A consumer with its own channel. An ack goes to the channel that brought the delivery, or nowhere. Delivery tags start over on
 * each channel, so acking an old one on a new channel would ack another message.
 */
export class RabbitMqConsumer implements Consumer {
  readonly #options: RabbitMqConsumerOptions;
  #connection: LiveConnection | undefined;
  #channel: Channel | undefined;
  #tag = '';
  #running = 0;
  #delivered = 0;
  #deliveredBefore = 0;
  /** When it last received something or took a new channel, by `performance.now`. */
  #quietSince = 0;
  #isLooking = false;
  #renewing: Promise<void> | undefined;
  /** A channel that is being replaced, so its end is expected. */
  #retired: Channel | undefined;
  /** Settles with the latest attempt to consume on a connection. */
  #attached: Promise<void> = Promise.resolve();
  #stopping: Promise<void> | undefined;
  #onIdle: (() => void) | undefined;

  constructor(options: RabbitMqConsumerOptions) {
    this.#options = options;
  }

  get consuming(): boolean {
    return (this.#channel !== undefined || this.#renewing !== undefined) && this.#stopping === undefined;
  }

  /** Consumes on a connection until the connection ends or the consumer is stopped. */
  async attach(connection: LiveConnection): Promise<void> {
    if (this.#stopping !== undefined) return;
    this.#connection = connection;
    const attaching = this.#attach(connection);
    this.#attached = attaching.catch(() => {});
    await attaching;
  }

  async #attach({ model, watch }: LiveConnection): Promise<void> {
    const channel = await model.createChannel();
    watch(channel, () => this.#stopping !== undefined || this.#retired === channel);
    channel.on('close', () => {
      if (this.#channel === channel) this.#channel = undefined;
    });
    await channel.prefetch(this.#options.prefetch);
    await this.#consume(channel);
  }

  async #consume(channel: Channel): Promise<void> {
    const take = (message: ConsumeMessage | null): void => {
      // The broker has cancelled the consumer: the queue was deleted, or a delivery was held for too long. Rebuild everything.
      if (message === null) this.#endCancelled(channel);
      else void this.#handle(channel, message);
    };
    const { consumerTag } = await channel.consume(this.#options.name, take, { noAck: this.#options.ack === 'auto' });
    this.#channel = channel;
    this.#tag = consumerTag;
    this.#quietSince = performance.now();
  }

  /** Ends a channel whose consumer the broker has cancelled. The error is the reason that the lost connection is logged with. */
  #endCancelled(channel: Channel): void {
    channel.emit('error', new Error(`RabbitMQ no longer delivers from ${this.#options.name}: was the queue deleted?`));
    channel.close().catch(() => {});
  }

  /**
   * Takes a new channel if this one has stopped delivering. Call it every few seconds.
   *
   * A quorum queue that is deleted and declared again at once keeps its consumers without telling them. But their channels
   * mistake its deliveries for duplicates and drop them (RabbitMQ 3.10; restarting brokers have caused the same,
   * rabbitmq-server#11228). There are two signs. If nothing is in hand, a ready message is delivered at once or never. And a
   * dropped message does not count as ready: it comes back only when the channel ends. So a consumer that has received nothing
   * for long takes a new channel even if its queue looks empty.
   */
  async look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    try {
      if (this.#delivered !== this.#deliveredBefore || this.#running > 0) this.#quietSince = performance.now();
      else if (this.consuming) await this.#judge();
    } finally {
      this.#isLooking = false;
      this.#deliveredBefore = this.#delivered;
    }
  }

  /** Nothing was delivered since the last check, and nothing is in hand. */
  get #isIdle(): boolean {
    return this.consuming && this.#running === 0 && this.#delivered === this.#deliveredBefore;
  }

  /** Checks the queue twice in quick succession, since other consumers might empty it before the next regular check. */
  async #judge(): Promise<void> {
    const channel = this.#channel;
    if (channel === undefined) return;
    const ready = async (): Promise<number> => (await channel.checkQueue(this.#options.name)).messageCount;
    let messages = await ready();
    if (messages > 0) {
      await setTimeout(STALLED_AFTER_MS, undefined, { ref: false });
      messages = await ready();
    }
    if (!this.#isIdle || this.#channel !== channel) return;
    if (messages > 0) this.#options.onStalled(messages);
    else if (performance.now() - this.#quietSince < this.#options.renewMs) return;
    this.#renewing = this.#renew(channel).finally(() => {
      this.#renewing = undefined;
    });
    await this.#renewing;
  }

  /** Moves to a new channel, unless something is delivered before this one is cancelled, which shows that it works. */
  async #renew(channel: Channel): Promise<void> {
    const connection = this.#connection;
    await channel.cancel(this.#tag);
    if (connection === undefined || this.#stopping !== undefined) return;
    if (!this.#isIdle) {
      await this.#consume(channel);
      return;
    }
    this.#retired = channel;
    await close(channel);
    await this.attach(connection).catch(() => close(connection.model));
  }

  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  async #stop(): Promise<void> {
    await this.#renewing?.catch(() => {});
    // An attempt under way on a new connection would go on consuming, with nobody to stop it.
    await this.#attached;
    const channel = this.#channel;
    await channel?.cancel(this.#tag).catch(() => {});
    if (this.#running > 0) {
      await new Promise<void>((resolve) => {
        this.#onIdle = resolve;
      });
    }
    this.#options.onStop();
    if (channel !== undefined) await close(channel);
    this.#channel = undefined;
  }

  async #handle(channel: Channel, message: ConsumeMessage): Promise<void> {
    const { queue, handler, ack } = this.#options;
    const { messageId, headers } = message.properties;
    this.#running++;
    this.#delivered++;
    try {
      const delivery = {
        queue,
        id: messageId as string | undefined,
        body: message.content,
        headers: allowedHeaders(headers),
        redelivered: message.fields.redelivered,
      };
      const handling = await handler(delivery).catch(() => 'return' as const);
      if (ack === 'auto') return;
      if (handling === 'ack') channel.ack(message);
      else channel.nack(message, false, true);
    } catch {
      // The channel has closed in the meantime, so the broker already has the delivery back.
    } finally {
      this.#running--;
      if (this.#running === 0) this.#onIdle?.();
    }
  }
}
