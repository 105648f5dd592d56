import type { LocalLetters } from '../ports/local-letters.ts';
import type {
  ConsumeOptions,
  Consumer,
  Destination,
  Handler,
  OutgoingMessage,
  PublishOutcome,
  QueueDepths,
  Transport,
} from '../ports/transport.ts';
import type { Clock } from '../runtime/clock.ts';
import { Deque } from '../runtime/collections/deque.ts';
import { QUEUES, type Queue } from '../task/task/routing.ts';
import { allowedHeaders } from './message-headers.ts';

const ENCODER = new TextEncoder();

interface QueuedMessage {
  readonly message: OutgoingMessage;
  readonly expiresAt: number;
  redelivered: boolean;
}

interface LocalTransportOptions {
  readonly clock: Clock;
  /** Longest time a message waits in each queue. */
  readonly ttlMs: Readonly<Record<Destination, number>>;
  /** Keeps dead letters. Absent if nobody could read them. */
  readonly letters?: Pick<LocalLetters, 'keep' | 'count'> | undefined;
}

/**
 * The transport of one process: queues in memory, with a broker's prefetch, TTL and redelivery. The queues don't outlive the
 * process. Dead letters are kept elsewhere, or not at all.
 */
export class LocalTransport implements Transport {
  readonly #clock: Clock;
  readonly #ttlMs: Readonly<Record<Destination, number>>;
  readonly #letters: LocalTransportOptions['letters'];
  readonly #queues: Readonly<Record<Queue, Deque<QueuedMessage>>> = { priority: new Deque(), normal: new Deque() };
  readonly #consumers: Readonly<Record<Queue, LocalConsumer[]>> = { priority: [], normal: [] };

  constructor({ clock, ttlMs, letters }: LocalTransportOptions) {
    this.#letters = letters;
    this.#clock = clock;
    this.#ttlMs = ttlMs;
  }

  async start(): Promise<void> {}

  async stop(): Promise<void> {
    await Promise.all(QUEUES.flatMap((queue) => this.#consumers[queue].map((consumer) => consumer.stop())));
  }

  async publish(messages: readonly OutgoingMessage[]): Promise<readonly PublishOutcome[]> {
    const now = this.#clock.now();
    for (const message of messages) {
      const { to } = message;
      if (to === 'failed') continue;
      const ttlMs = Math.min(this.#ttlMs[to], message.ttlMs ?? Number.POSITIVE_INFINITY);
      this.#queues[to].push({ message, expiresAt: now + ttlMs, redelivered: false });
    }
    for (const queue of QUEUES) this.#deliver(queue);
    const areKept = await this.#keep(messages.filter(({ to }) => to === 'failed'));
    return messages.map(({ to }) => (to === 'failed' && !areKept ? 'unknown' : 'confirmed'));
  }

  async consume(queue: Queue, handler: Handler, { prefetch, ack = 'manual' }: ConsumeOptions): Promise<Consumer> {
    const consumer: LocalConsumer = new LocalConsumer({
      prefetch: ack === 'auto' ? Number.POSITIVE_INFINITY : prefetch,
      handle: ({ message, redelivered }) =>
        handler({
          queue,
          id: message.id,
          body: typeof message.body === 'string' ? ENCODER.encode(message.body) : message.body,
          headers: allowedHeaders(message.headers as Record<string, unknown>),
          redelivered,
        }),
      onFree: () => this.#deliver(queue),
      onReturn: (waiting) => {
        if (ack === 'manual') this.#queues[queue].unshift({ ...waiting, redelivered: true });
      },
      onStop: () => this.#consumers[queue].splice(this.#consumers[queue].indexOf(consumer), 1),
    });
    this.#consumers[queue].push(consumer);
    this.#deliver(queue);
    return consumer;
  }

  async depths(): Promise<QueueDepths> {
    const depth = (queue: Queue) => ({ ready: this.#queues[queue].length, consumers: this.#consumers[queue].length });
    return {
      priority: depth('priority'),
      normal: depth('normal'),
      failed: { ready: (await this.#letters?.count()) ?? 0, consumers: 0 },
    };
  }

  trouble(): undefined {
    return undefined;
  }

  /** Returns `false` if the letters could not be written. */
  async #keep(letters: readonly OutgoingMessage[]): Promise<boolean> {
    if (letters.length === 0 || this.#letters === undefined) return true;
    try {
      await this.#letters.keep(letters);
      return true;
    } catch {
      return false;
    }
  }

  #deliver(queue: Queue): void {
    const waiting = this.#queues[queue];
    for (;;) {
      const consumer = this.#consumers[queue].find((candidate) => candidate.hasRoom);
      if (consumer === undefined) return;
      const [next] = waiting.take(1);
      if (next === undefined) return;
      if (next.expiresAt > this.#clock.now()) consumer.take(next);
    }
  }
}

interface LocalConsumerOptions {
  readonly prefetch: number;
  readonly handle: (waiting: QueuedMessage) => Promise<'ack' | 'return'>;
  readonly onFree: () => void;
  readonly onReturn: (waiting: QueuedMessage) => void;
  readonly onStop: () => void;
}

class LocalConsumer implements Consumer {
  readonly #options: LocalConsumerOptions;
  #running = 0;
  #stopping: Promise<void> | undefined;
  #onIdle: (() => void) | undefined;

  constructor(options: LocalConsumerOptions) {
    this.#options = options;
  }

  get consuming(): boolean {
    return this.#stopping === undefined;
  }

  get hasRoom(): boolean {
    return this.consuming && this.#running < this.#options.prefetch;
  }

  take(waiting: QueuedMessage): void {
    this.#running++;
    void this.#options
      .handle(waiting)
      .catch(() => 'return' as const)
      .then((handling) => {
        this.#running--;
        if (handling === 'return') this.#options.onReturn(waiting);
        if (this.#running === 0) this.#onIdle?.();
        this.#options.onFree();
      });
  }

  stop(): Promise<void> {
    this.#stopping ??= new Promise<void>((resolve) => {
      this.#options.onStop();
      if (this.#running === 0) resolve();
      else this.#onIdle = resolve;
    });
    return this.#stopping;
  }
}
