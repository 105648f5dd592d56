import type { ConfirmChannel, Message } from 'amqplib';
import type { Destination, OutgoingMessage, PublishOutcome } from '../../ports/transport.ts';
import { messageOf } from '../../runtime/errors.ts';
import type { QueueDeclaration } from './topology.ts';

/** Time without an answer after which a message's outcome is `unknown`. It is not sent again; the task's lease decides. */
const CONFIRM_TIMEOUT_MS = 30_000;
const LOOK_EVERY_MS = 5_000;

interface Unconfirmed {
  readonly sentAt: number;
  returned: boolean;
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
        // Never sent, so its task can be put back at once.
        fates.push('refused');
        continue;
      }
      const { fate, hasRoom } = this.#send(channel, message);
      fates.push(fate);
      if (!hasRoom) await drained(channel);
    }
    return await Promise.all(fates);
  }

  /** Resolves when no message is unconfirmed. */
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

/** Returns the outcome for a confirm's error. A nack is an answer; any other error means that the channel died. */
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
