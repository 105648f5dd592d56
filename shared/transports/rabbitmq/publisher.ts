import type { ConfirmChannel, Message } from 'amqplib';
import type { Destination, OutgoingMessage, PublishOutcome } from '../../ports/transport.ts';
import { messageOf } from '../../runtime/errors.ts';
import type { QueueDeclaration } from './topology.ts';

/** How long a message may go without an answer before its outcome is unknown: it is not sent again, its lease decides. */
const CONFIRM_TIMEOUT_MS = 30_000;
const LOOK_EVERY_MS = 5_000;

interface Unconfirmed {
  readonly sentAt: number;
  returned: boolean;
  settle(outcome: PublishOutcome): void;
}

/**
 * Publishes persistent, mandatory messages and reports the fate of each. The broker returns a message that no queue took
 * *before* it confirms it, so a message that was confirmed without a return is in a queue.
 */
export class RabbitMqPublisher {
  readonly #routes: ReadonlyMap<Destination, QueueDeclaration>;
  readonly #window: number;
  readonly #unconfirmed = new Map<string, Unconfirmed>();
  #channel: ConfirmChannel | undefined;
  #sequence = 0;
  #waiting: (() => void)[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(queues: readonly QueueDeclaration[], window: number) {
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
    channel.on('close', () => {
      if (this.#channel === channel) this.#channel = undefined;
    });
  }

  async publish(messages: readonly OutgoingMessage[]): Promise<readonly PublishOutcome[]> {
    const fates: (PublishOutcome | Promise<PublishOutcome>)[] = [];
    for (const message of messages) {
      while (this.#unconfirmed.size >= this.#window) await this.#nextSettled();
      const channel = this.#channel;
      if (channel === undefined) {
        // Never sent: it can be put back at once.
        fates.push('refused');
        continue;
      }
      const { fate, hasRoom } = this.#send(channel, message);
      fates.push(fate);
      if (!hasRoom) await drained(channel);
    }
    return await Promise.all(fates);
  }

  /** Resolves when nothing is unconfirmed any more. */
  async settled(): Promise<void> {
    while (this.#unconfirmed.size > 0) await this.#nextSettled();
  }

  #send(channel: ConfirmChannel, message: OutgoingMessage): { fate: Promise<PublishOutcome>; hasRoom: boolean } {
    const route = this.#routes.get(message.to);
    if (route === undefined) throw new TypeError(`no queue for ${message.to}`);
    const key = String(++this.#sequence);
    const { promise: fate, resolve } = Promise.withResolvers<PublishOutcome>();
    const pending: Unconfirmed = {
      sentAt: performance.now(),
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
        pending.settle(pending.returned ? 'returned' : outcomeOf(error));
      });
      return { fate, hasRoom };
    } catch {
      // The channel closed meanwhile: nothing was sent.
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

/** A nack is an answer. When the channel dies, all unconfirmed messages fail at once, and their fate is unknown. */
function outcomeOf(error: unknown): PublishOutcome {
  if (error === null || error === undefined) return 'confirmed';
  return messageOf(error) === 'message nacked' ? 'refused' : 'unknown';
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
