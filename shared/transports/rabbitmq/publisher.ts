import type { ConfirmChannel, Message } from 'amqplib';
import type { Destination, OutgoingMessage, PublishOutcome } from '../../ports/transport.ts';
import { messageOf } from '../../runtime/errors.ts';
import { SizeLimit } from './size-limit.ts';
import type { QueueDeclaration } from './topology.ts';

/** Time without an answer after which a message's outcome is `unknown`. It is not sent again; the task's lease decides. */
const CONFIRM_TIMEOUT_MS = 30_000;
const LOOK_EVERY_MS = 5_000;

interface Unconfirmed {
  readonly sentAt: number;
  readonly channel: ConfirmChannel;
  readonly bytes: number;
  returned: boolean;
  /** Set once it is certain that the broker has not taken it, although the channel died before it answered. */
  ignored?: 'too_large' | 'refused';
  settle(outcome: PublishOutcome): void;
}

/**
 * Publishes persistent, mandatory messages and reports the fate of each. If no queue takes a message, the broker returns it
 * *before* it confirms it, so a message that was confirmed and not returned is in a queue.
 */
export class RabbitMqPublisher {
  readonly #routes: ReadonlyMap<Destination, QueueDeclaration>;
  readonly #window: number;
  readonly #unconfirmed = new Map<string, Unconfirmed>();
  readonly #sizeLimit: SizeLimit;
  #channel: ConfirmChannel | undefined;
  #sequence = 0;
  #waiting: (() => void)[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(queues: readonly QueueDeclaration[], window: number, sizeLimit = new SizeLimit()) {
    this.#sizeLimit = sizeLimit;
    this.#routes = new Map(queues.map((queue) => [queue.destination, queue]));
    this.#window = window;
  }

  /** Publishes on this channel from now on. */
  attach(channel: ConfirmChannel): void {
    this.#channel = channel;
    channel.on('return', (message: Message) => {
      const pending = this.#unconfirmed.get(String(message.properties.correlationId));
      if (pending !== undefined) pending.returned = true;
    });
    // Emitted before the channel's unconfirmed messages are given up.
    channel.on('error', (error) => this.#lookAtSizes(channel, error));
    channel.on('close', () => {
      if (this.#channel === channel) this.#channel = undefined;
    });
  }

  /** Whether its channel is open. Messages that a dying channel ignored say nothing about their queues. */
  get isAttached(): boolean {
    return this.#channel !== undefined;
  }

  async publish(messages: readonly OutgoingMessage[]): Promise<readonly PublishOutcome[]> {
    const fates: (PublishOutcome | Promise<PublishOutcome>)[] = [];
    for (const message of messages) {
      const bytes = Buffer.byteLength(message.body);
      // A message that may be too large is sent alone, so that the fate of no other is unknown if it takes the channel along.
      const size = this.#sizeLimit.judge(bytes);
      if (size === 'too_large') {
        fates.push('too_large');
        continue;
      }
      while (this.#unconfirmed.size >= (size === 'doubtful' ? 1 : this.#window)) await this.#nextSettled();
      const channel = this.#channel;
      if (channel === undefined) {
        // Never sent, so its task can be put back at once.
        fates.push('refused');
        continue;
      }
      const { fate, hasRoom } = this.#send(channel, message, bytes);
      fates.push(fate);
      if (!hasRoom) await drained(channel);
    }
    return await Promise.all(fates);
  }

  /** Resolves when no message is unconfirmed. */
  async settled(): Promise<void> {
    while (this.#unconfirmed.size > 0) await this.#nextSettled();
  }

  /**
   * Learns from the error of a channel that a message was too large. The broker takes the messages of a channel in order, and ignores
   * all that follow that one.
   */
  #lookAtSizes(channel: ConfirmChannel, error: unknown): void {
    const told = this.#sizeLimit.learn(error);
    if (told === undefined) return;
    let isIgnored = false;
    for (const pending of this.#unconfirmed.values()) {
      if (pending.channel !== channel) continue;
      isIgnored ||= pending.bytes === told.bytes;
      if (isIgnored) pending.ignored = pending.bytes > told.limit ? 'too_large' : 'refused';
    }
  }

  #send(
    channel: ConfirmChannel,
    message: OutgoingMessage,
    bytes: number,
  ): { fate: Promise<PublishOutcome>; hasRoom: boolean } {
    const route = this.#routes.get(message.to);
    if (route === undefined) throw new TypeError(`no queue for ${message.to}`);
    const key = String(++this.#sequence);
    const { promise: fate, resolve } = Promise.withResolvers<PublishOutcome>();
    const pending: Unconfirmed = {
      sentAt: performance.now(),
      channel,
      bytes,
      returned: false,
      settle: (outcome) => {
        if (!this.#unconfirmed.delete(key)) return;
        resolve(outcome);
        for (const wake of this.#waiting.splice(0)) wake();
      },
    };
    this.#unconfirmed.set(key, pending);
    this.#timer ??= setInterval(() => this.#giveUpOnOld(), LOOK_EVERY_MS).unref();
    const body = typeof message.body === 'string' ? Buffer.from(message.body) : Buffer.from(message.body);
    const options = {
      persistent: true,
      mandatory: true,
      contentType: 'application/json',
      messageId: message.id,
      correlationId: key,
      headers: message.headers,
      ...(message.ttlMs === undefined ? {} : { expiration: Math.max(1, Math.floor(message.ttlMs)) }),
    };
    try {
      const hasRoom = channel.publish(route.exchange, route.routingKey, body, options, (error) => {
        if (error === null || error === undefined) this.#sizeLimit.taken(bytes);
        pending.settle(pending.returned ? 'returned' : outcomeOf(error, pending.ignored));
      });
      return { fate, hasRoom };
    } catch {
      // The channel has closed in the meantime, and nothing was sent.
      pending.settle('refused');
      return { fate, hasRoom: true };
    }
  }

  #nextSettled(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #giveUpOnOld(): void {
    const oldest = performance.now() - CONFIRM_TIMEOUT_MS;
    for (const pending of this.#unconfirmed.values()) {
      if (pending.sentAt > oldest) break;
      pending.settle('unknown');
    }
    if (this.#unconfirmed.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}

/**
 * Returns the outcome for a confirm's error. A nack is an answer; any other error means that the channel died.
 *
 * @param ignored the outcome of a message that the broker has certainly ignored if the channel died
 */
function outcomeOf(error: unknown, ignored: PublishOutcome = 'unknown'): PublishOutcome {
  if (error === null || error === undefined) return 'confirmed';
  return messageOf(error) === 'message nacked' ? 'refused' : ignored;
}

/** Resolves when the socket's buffer has room again, or the channel is gone. */
function drained(channel: ConfirmChannel): Promise<void> {
  return new Promise((resolve) => {
    const finish = (): void => {
      channel.off('drain', finish);
      channel.off('close', finish);
      resolve();
    };
    channel.on('drain', finish);
    channel.on('close', finish);
  });
}
