import type { Service } from '../runtime/lifecycle.ts';
import type { Queue } from '../task/task/routing.ts';

/**
 * Moves deliveries between processes. The rest of the fleet knows only this file.
 *
 * Delivery is at least once: a `confirmed` message survives any crash, and may be delivered again after one. Order is not
 * promised. A message that outlives its TTL in a queue vanishes: the task comes back through its lease.
 *
 * `stop` stops consumers, waits for handlers in flight, and then disconnects. Implementations:
 * `transports/rabbitmq` for a fleet, `transports/local.ts` for one process; both pass
 * `test/contract/suites/transport.contract.ts`.
 */
export interface Transport extends Service {
  /**
   * Hands messages to the broker, and resolves when the fate of each is known, in the order given. Never rejects. At most
   * a bounded number are unconfirmed at a time: beyond, it waits.
   */
  publish(messages: readonly OutgoingMessage[]): Promise<readonly PublishOutcome[]>;
  /** Runs `handler` on deliveries until the consumer is stopped; at most `prefetch` are unanswered at a time. */
  consume(queue: Queue, handler: Handler, options: ConsumeOptions): Promise<Consumer>;
  /** How many messages wait in each queue now, not counting those that consumers hold. */
  depths(): Promise<QueueDepths>;
  /** Why nothing, or not all, can be published at the moment; nothing if all is well. */
  trouble(): TransportTrouble | undefined;
}

export interface ConsumeOptions {
  readonly prefetch: number;
  /** Left out, `manual`. */
  readonly ack?: AckMode | undefined;
}

/**
 * `manual`: a delivery is acked when its handler has ended. `auto`: when it is handed over. Then everything in the queue
 * comes at once, whatever the prefetch, the handler's answer is ignored, and a crash loses the deliveries in hand.
 */
export type AckMode = 'manual' | 'auto';

/** Where a message goes: a work queue, or to the dead letters. */
export type Destination = Queue | 'failed';

export interface OutgoingMessage {
  readonly to: Destination;
  /** The task's id. */
  readonly id: string;
  readonly body: string | Uint8Array;
  readonly headers: MessageHeaders;
  /** How long the message stays in the queue, if that is shorter than the queue's own TTL. */
  readonly ttlMs?: number;
}

/** The headers that a message may carry; a transport drops all others, in both directions. */
export interface MessageHeaders {
  readonly 'x-attempt'?: number;
  readonly 'x-release'?: number;
  readonly 'x-deadline'?: number;
  readonly 'x-first-seen'?: number;
  readonly 'x-last-error'?: string;
}

/** The names of {@link MessageHeaders}. */
export const MESSAGE_HEADERS = [
  'x-attempt',
  'x-release',
  'x-deadline',
  'x-first-seen',
  'x-last-error',
] as const satisfies readonly (keyof MessageHeaders)[];

/**
 * `confirmed`: the broker has taken responsibility. `returned`: no queue took it. `refused`: the broker refused it.
 * `unknown`: the connection was lost first; the message may have arrived or not, and is not sent again.
 */
export type PublishOutcome = 'confirmed' | 'returned' | 'refused' | 'unknown';

export interface Delivery {
  readonly queue: Queue;
  readonly id: string | undefined;
  readonly body: Uint8Array;
  readonly headers: MessageHeaders;
  /** It may have been delivered before. */
  readonly redelivered: boolean;
}

/** What becomes of a delivery: done, or back to the queue for another consumer. A handler that throws means `return`. */
export type Handling = 'ack' | 'return';
export type Handler = (delivery: Delivery) => Promise<Handling>;

export interface Consumer {
  /** Takes no more deliveries; resolves when those in hand have been answered. Safe to call twice. */
  stop(): Promise<void>;
  /** Is it attached to the broker just now? */
  readonly consuming: boolean;
}

export type QueueDepths = Readonly<Record<Destination, { readonly ready: number; readonly consumers: number }>>;

/** `blocked`: the broker takes nothing, for the reason that it gave. `full`: a queue has refused messages in the last seconds; it may take others. */
export type TransportTrouble = 'disconnected' | 'full' | `blocked: ${string}`;

/** An optional ability: reading dead letters without consuming them, and deleting some. */
export interface DeadLetters {
  /** Up to `limit` letters, oldest first. They stay where they are. */
  browse(limit: number): Promise<readonly DeadLetterMessage[]>;
  /**
   * Passes `judge` the letters that are there now, oldest first and some at a time, and deletes those it picks, after it
   * has answered. All others stay, in their order as far as the broker keeps it. Letters that arrive meanwhile are not
   * shown. Only one caller reads at a time; others wait. Ends early once `signal` is aborted.
   *
   * A crash may delete fewer than were picked, never others.
   */
  sift(judge: LetterJudge, signal?: AbortSignal): Promise<void>;
}

/**
 * Reads the queues' state, and takes dead letters out, without declaring anything or consuming from the work queues. An
 * undeclared queue counts as empty.
 */
export interface QueueInspector extends DeadLetters {
  depths(): Promise<QueueDepths>;
}

/** Decides what becomes of each letter, in their order. If it rejects, all of them stay. */
export type LetterJudge = (letters: readonly DeadLetterMessage[]) => Promise<readonly LetterFate[]>;
export type LetterFate = 'keep' | 'delete';

export interface DeadLetterMessage {
  readonly id: string | undefined;
  readonly body: Uint8Array;
  readonly headers: MessageHeaders;
  /** Left out if it was published as a dead letter. */
  readonly moved?: MovedByBroker;
}

/** The broker took a message out of its queue, by a policy of whoever operates it, and put it here. */
export interface MovedByBroker {
  /** The queue's name on the broker. */
  readonly from: string;
  /** In the broker's words: `expired`, `maxlen`, `rejected` or `delivery_limit`. */
  readonly why: string;
  /** Epoch milliseconds; left out if the broker didn't say. */
  readonly at?: number;
}
