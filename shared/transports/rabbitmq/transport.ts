import type { ConfirmChannel } from 'amqplib';
import type {
  ConsumeOptions,
  Consumer,
  DeadLetterMessage,
  DeadLetters,
  Destination,
  Handler,
  LetterJudge,
  OutgoingMessage,
  PublishOutcome,
  QueueDepths,
  Transport,
  TransportTrouble,
} from '../../ports/transport.ts';
import type { ClientTls } from '../../runtime/client-tls.ts';
import { UnavailableError } from '../../runtime/errors.ts';
import type { Queue } from '../../task/task/routing.ts';
import { close } from './closing.ts';
import { RabbitMqConsumer } from './consumer.ts';
import { declare } from './declaring.ts';
import { RabbitMqInspector } from './inspector.ts';
import { RabbitMqPublisher } from './publisher.ts';
import { type ConnectionEvents, type LiveConnection, RecoveringConnection } from './recovering-connection.ts';
import { Refusals } from './refusals.ts';
import { SizeLimit } from './size-limit.ts';
import { type QueueDeclaration, type QueueType, topology } from './topology.ts';

export interface RabbitMqOptions {
  readonly url: string;
  readonly tls?: ClientTls | undefined;
  /** Prefix of the names of all exchanges and queues. */
  readonly prefix: string;
  readonly queueType: QueueType;
  /** Shown in the broker's list of connections. */
  readonly name: string;
  readonly heartbeatSeconds: number;
  /** Maximum number of unconfirmed messages. */
  readonly window: number;
  readonly onLost: (reason: string) => void;
  readonly onRestored: () => void;
  readonly onBlocked: (reason: string | undefined) => void;
  /** Called when a queue holds `ready` messages but delivers none, and its consumer takes a new channel. */
  readonly onStalled: (queue: Queue, ready: number) => void;
  /** Called when a queue has only refused messages for some seconds, and messages are published on a new channel. */
  readonly onRefusing: (queue: Destination) => void;
  /** Milliseconds between checks for stalled consumers, for tests. */
  readonly lookMs?: number;
  /** Time without a delivery after which a consumer takes a new channel, for tests. */
  readonly renewMs?: number;
  /** The clock by which a limit on the size of messages is believed, in milliseconds, for tests. */
  readonly now?: () => number;
  /** Queue TTLs, for tests. */
  readonly ttlMs?: Readonly<Record<Destination, number>>;
}

const LOOK_MS = 5_000;
const RENEW_MS = 30_000;

/**
 * The transport of a fleet. It has two connections, because a publisher that the broker blocks must not keep deliveries from
 * being acked. Every channel that dies takes its connection along, and amqplib's recovery rebuilds both.
 */
export class RabbitMqTransport implements Transport, DeadLetters {
  readonly #queues: readonly QueueDeclaration[];
  readonly #publisher: RabbitMqPublisher;
  readonly #publishing: RecoveringConnection;
  readonly #consuming: RecoveringConnection;
  readonly #inspector: RabbitMqInspector;
  readonly #consumers = new Set<RabbitMqConsumer>();
  readonly #options: RabbitMqOptions;
  #looking: NodeJS.Timeout | undefined;
  /** The broker's own words, while it blocks the publisher. */
  #blocked: string | undefined;
  readonly #refusals = new Refusals();
  readonly #sizeLimit: SizeLimit;
  #publishes: ConfirmChannel | undefined;
  readonly #away = new Set<string>();
  #declaring: Promise<boolean> | undefined;
  #isStopped = false;

  constructor(options: RabbitMqOptions) {
    this.#options = options;
    this.#queues = topology(options.prefix, options.queueType, options.ttlMs);
    this.#sizeLimit = new SizeLimit(options.now);
    this.#publisher = new RabbitMqPublisher(this.#queues, options.window, this.#sizeLimit);
    const connection = (role: string, build: (live: LiveConnection) => Promise<void>) =>
      new RecoveringConnection({
        ...options,
        name: `${options.name} ${role}`,
        build,
        events: this.#events(role, options),
      });
    this.#publishing = connection('publishes', async (live) => {
      await declare(live.model, this.#queues);
      await this.#attachPublisher(live);
    });
    this.#consuming = connection('consumes', async (live) => {
      // Declared here as well, because a queue that was deleted under its consumer must exist before it can be consumed.
      await declare(live.model, this.#queues);
      for (const consumer of this.#consumers) await consumer.attach(live);
    });
    this.#inspector = new RabbitMqInspector({ connection: this.#consuming, queues: this.#queues });
  }

  async start(): Promise<void> {
    await this.#publishing.start();
    try {
      // An interrupt may have stopped it in the meantime.
      if (this.#isStopped)
        throw new UnavailableError('the connection to RabbitMQ was closed while it was being opened');
      await this.#consuming.start();
    } catch (error: unknown) {
      await this.#publishing.stop();
      throw error;
    }
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    clearInterval(this.#looking);
    await Promise.all([...this.#consumers].map((consumer) => consumer.stop()));
    await this.#publisher.settled();
    await Promise.all([this.#consuming.stop(), this.#publishing.stop()]);
  }

  /** Publishes messages. If no queue takes some of them, declares the queues again and publishes these once more. */
  async publish(messages: readonly OutgoingMessage[]): Promise<readonly PublishOutcome[]> {
    const { live } = this.#publishing;
    const outcomes = await this.#publisher.publish(messages);
    if (live !== undefined && live === this.#publishing.live && this.#publisher.isAttached) {
      this.#refusals.note(messages, outcomes);
      this.#lookAtRefusing().catch(() => {});
    }
    if (!outcomes.includes('returned') || !(await this.#declareAgain())) return outcomes;
    const again = await this.#publisher.publish(messages.filter((_, i) => outcomes[i] === 'returned'));
    const left = again.values();
    return outcomes.map((outcome) => (outcome === 'returned' ? (left.next().value ?? outcome) : outcome));
  }

  async consume(queue: Queue, handler: Handler, { prefetch, ack = 'manual' }: ConsumeOptions): Promise<Consumer> {
    const consumer = new RabbitMqConsumer({
      queue,
      name: this.#nameOf(queue),
      prefetch,
      ack,
      handler,
      renewMs: this.#options.renewMs ?? RENEW_MS,
      onStop: () => this.#consumers.delete(consumer),
      onStalled: (ready) => this.#options.onStalled(queue, ready),
    });
    this.#consumers.add(consumer);
    this.#looking ??= setInterval(() => this.#look(), this.#options.lookMs ?? LOOK_MS).unref();
    // Without a connection, or if it dies meanwhile, the next one attaches the consumer. So it does, and says why it can't, if this one fails.
    const { live } = this.#consuming;
    if (live !== undefined) await consumer.attach(live).catch(() => close(live.model));
    return consumer;
  }

  depths(): Promise<QueueDepths> {
    return this.#inspector.depths();
  }

  trouble(): TransportTrouble | undefined {
    if (this.#publishing.live === undefined) return 'disconnected';
    if (this.#blocked !== undefined) return `blocked: ${this.#blocked}`;
    if (this.#refusals.areRecent) return 'full';
    return this.#sizeLimit.isRecent ? 'too_large' : undefined;
  }

  browse(limit: number): Promise<readonly DeadLetterMessage[]> {
    return this.#inspector.browse(limit);
  }

  sift(judge: LetterJudge, signal?: AbortSignal): Promise<void> {
    return this.#inspector.sift(judge, signal);
  }

  #look(): void {
    // A channel that closes in the meantime is rebuilt anyway.
    for (const consumer of this.#consumers) consumer.look().catch(() => {});
  }

  /**
   * Publishes on a new channel if a queue has accepted nothing for some seconds. In RabbitMQ, a channel remembers that a quorum queue
   * was full until the queue gets shorter. It never learns that a policy has changed, and nobody consumes dead letters. A queue that
   * is still full refuses a new channel's first message, too.
   */
  async #lookAtRefusing(): Promise<void> {
    const [stuck] = this.#refusals.takeStuck();
    const { live } = this.#publishing;
    if (stuck === undefined || live === undefined) return;
    this.#options.onRefusing(stuck);
    const before = this.#publishes;
    await this.#attachPublisher(live);
    // A refusal is an answer, too.
    await before?.waitForConfirms().catch(() => {});
    await before?.close();
  }

  /** Publishes on a new channel of a connection. The end of a replaced channel is expected, and does not end the connection. */
  async #attachPublisher({ model, watch }: LiveConnection): Promise<void> {
    const channel: ConfirmChannel = watch(await model.createConfirmChannel(), () => this.#publishes !== channel);
    this.#publishes = channel;
    this.#publisher.attach(channel);
  }

  /** Declares the queues again, once for all simultaneous callers. Returns `false` if that fails. */
  async #declareAgain(): Promise<boolean> {
    const { live } = this.#publishing;
    if (live === undefined) return false;
    this.#declaring ??= declare(live.model, this.#queues)
      .then(
        () => true,
        () => false,
      )
      .finally(() => {
        this.#declaring = undefined;
      });
    return await this.#declaring;
  }

  /** Reports both connections as one: lost when either is, restored when both are. */
  #events(role: string, { onLost, onRestored, onBlocked }: RabbitMqOptions): ConnectionEvents {
    return {
      lost: (reason) => {
        this.#away.add(role);
        onLost(reason);
      },
      restored: () => {
        this.#away.delete(role);
        if (this.#away.size === 0) onRestored();
      },
      blocked: (reason) => {
        if ((this.#blocked === undefined) === (reason === undefined)) return;
        this.#blocked = reason;
        onBlocked(reason);
      },
    };
  }

  #nameOf(destination: Destination): string {
    const found = this.#queues.find((queue) => queue.destination === destination);
    if (found === undefined) throw new TypeError(`no queue for ${destination}`);
    return found.name;
  }
}
