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
  readonly onStop: () => void;
  /** It consumes anew: its queue has this many messages, and the broker delivered none. */
  readonly onStalled: (ready: number) => void;
}

/** It is taken for stalled if messages are still in the queue after this, and none was delivered. */
const STALLED_AFTER_MS = 1_000;

/**
 * One consumer on a channel of its own. An ack goes to the channel that brought the delivery, or nowhere: tags start over on
 * each channel, so an old one acked on a new channel would ack another message.
 */
export class RabbitMqConsumer implements Consumer {
  readonly #options: RabbitMqConsumerOptions;
  #channel: Channel | undefined;
  #tag = '';
  #running = 0;
  #delivered = 0;
  #deliveredBefore = 0;
  #isLooking = false;
  #stopping: Promise<void> | undefined;
  #onIdle: (() => void) | undefined;

  constructor(options: RabbitMqConsumerOptions) {
    this.#options = options;
  }

  get consuming(): boolean {
    return this.#channel !== undefined && this.#stopping === undefined;
  }

  /** Consumes on a connection, until that connection ends or the consumer is stopped. */
  async attach({ model, watch }: LiveConnection): Promise<void> {
    if (this.#stopping !== undefined) return;
    const channel = await model.createChannel();
    watch(channel, () => this.#stopping !== undefined);
    channel.on('close', () => {
      if (this.#channel === channel) this.#channel = undefined;
    });
    await channel.prefetch(this.#options.prefetch);
    const take = (message: ConsumeMessage | null): void => {
      // Cancelled by the broker: the queue was deleted, or a delivery was held for too long. Everything is built anew.
      if (message === null) channel.close().catch(() => {});
      else void this.#handle(channel, message);
    };
    const { consumerTag } = await channel.consume(this.#options.name, take, { noAck: this.#options.ack === 'auto' });
    this.#channel = channel;
    this.#tag = consumerTag;
  }

  /**
   * Consumes anew if it waits in vain; to be called every few seconds. A quorum queue that was deleted and declared again at
   * once keeps its consumers and tells none of them; but their channels take what it delivers for duplicates, and drop it
   * (RabbitMQ 3.10; brokers that restart have come to the same, rabbitmq-server#11228). With nothing in hand, a message that
   * is ready is delivered at once, or never.
   */
  async look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    try {
      if (this.#isIdle) await this.#judge();
    } finally {
      this.#isLooking = false;
      this.#deliveredBefore = this.#delivered;
    }
  }

  /** Nothing was delivered since the last look, and nothing is in hand. */
  get #isIdle(): boolean {
    return this.consuming && this.#running === 0 && this.#delivered === this.#deliveredBefore;
  }

  /** Others may take what is in the queue before the next look, and what it delivered to this one would be left: so it looks again soon. */
  async #judge(): Promise<void> {
    const channel = this.#channel;
    const ready = async (): Promise<number> => (await channel?.checkQueue(this.#options.name))?.messageCount ?? 0;
    if ((await ready()) === 0) return;
    await setTimeout(STALLED_AFTER_MS, undefined, { ref: false });
    if (!this.#isIdle || this.#channel !== channel) return;
    const messages = await ready();
    if (messages === 0 || !this.#isIdle || channel === undefined) return;
    this.#options.onStalled(messages);
    await close(channel);
  }

  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  async #stop(): Promise<void> {
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
      // The channel has closed meanwhile: the broker already has the delivery back.
    } finally {
      this.#running--;
      if (this.#running === 0) this.#onIdle?.();
    }
  }
}
