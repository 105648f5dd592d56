import type { ChildProcess } from 'node:child_process';
import type {
  Consumer,
  Delivery,
  Handler,
  MessageHeaders,
  OutgoingMessage,
  PublishOutcome,
  QueueDepths,
  Transport,
} from '../../shared/ports/transport.ts';
import type { Queue } from '../../shared/task/task/routing.ts';

/** A message in the form sent between processes. */
interface Sent {
  readonly id: string;
  readonly body: string;
  readonly headers: MessageHeaders;
}

/** Messages of a worker process to the broker. */
export type ToBroker =
  | { readonly kind: 'publish'; readonly call: number; readonly messages: readonly Sent[]; readonly letters: number }
  | { readonly kind: 'room'; readonly count: number };

/** Messages of the broker to a worker process. */
export type FromBroker =
  | { readonly kind: 'confirmed'; readonly call: number }
  | { readonly kind: 'deliver'; readonly messages: readonly Sent[] };

/**
 * A broker with one queue, in the process that starts the worker processes. A real one would take a core of its own, while the bench
 * measures Redis. Deliveries go to the process with the most room.
 */
export class SimulatedBroker {
  readonly #room = new Map<ChildProcess, number>();
  #queue: Sent[] = [];
  /** Number of dead letters published. */
  letters = 0;

  /** Number of messages that wait. */
  get depth(): number {
    return this.#queue.length;
  }

  hear(child: ChildProcess, said: ToBroker): void {
    if (said.kind === 'room') {
      this.#room.set(child, (this.#room.get(child) ?? 0) + said.count);
    } else {
      this.letters += said.letters;
      for (const message of said.messages) this.#queue.push(message);
      child.send({ kind: 'confirmed', call: said.call } satisfies FromBroker);
    }
    this.#deliver();
  }

  #deliver(): void {
    while (this.#queue.length > 0) {
      const [child, room] = [...this.#room].reduce((most, each) => (each[1] > most[1] ? each : most));
      if (room === 0) return;
      const others = [...this.#room.values()].reduce((sum, each) => sum + each, 0) - room;
      // Small batches while other processes have room, too.
      const messages = this.#queue.splice(0, Math.min(room, others > 0 ? 20 : room));
      this.#room.set(child, room - messages.length);
      child.send({ kind: 'deliver', messages } satisfies FromBroker);
    }
  }
}

/** The other end of {@link SimulatedBroker}, in a worker process. It has a single consumer, of the normal queue. */
export class SimulatedTransport implements Transport {
  readonly #confirmed = new Map<number, () => void>();
  #calls = 0;
  #handler: Handler | undefined;
  #answered = 0;

  async start(): Promise<void> {
    process.on('message', (said: FromBroker) => {
      if (said.kind === 'confirmed') {
        this.#confirmed.get(said.call)?.();
        this.#confirmed.delete(said.call);
      } else if (said.kind === 'deliver') {
        for (const message of said.messages) void this.#handle(message);
      }
    });
  }

  async stop(): Promise<void> {}

  async publish(messages: readonly OutgoingMessage[]): Promise<readonly PublishOutcome[]> {
    const tasks = messages.filter(({ to }) => to !== 'failed');
    const call = ++this.#calls;
    const confirmed = new Promise<void>((resolve) => this.#confirmed.set(call, resolve));
    tell({
      kind: 'publish',
      call,
      letters: messages.length - tasks.length,
      messages: tasks.map(({ id, body, headers }) => ({ id, body: String(body), headers })),
    });
    await confirmed;
    return messages.map(() => 'confirmed');
  }

  async consume(_: Queue, handler: Handler, { prefetch }: { readonly prefetch: number }): Promise<Consumer> {
    this.#handler = handler;
    tell({ kind: 'room', count: prefetch });
    return { stop: async () => {}, consuming: true };
  }

  async depths(): Promise<QueueDepths> {
    const none = { ready: 0, consumers: 1 };
    return { priority: none, normal: none, failed: none };
  }

  trouble(): undefined {
    return undefined;
  }

  async #handle({ id, body, headers }: Sent): Promise<void> {
    const delivery: Delivery = {
      ...{ queue: 'normal', id, headers, redelivered: false },
      body: new TextEncoder().encode(body),
    };
    await this.#handler?.(delivery);
    // Acks are sent together: one message for each would cost more than the page.
    if (this.#answered++ === 0) {
      setImmediate(() => {
        tell({ kind: 'room', count: this.#answered });
        this.#answered = 0;
      });
    }
  }
}

function tell(said: ToBroker): void {
  process.send?.(said);
}
