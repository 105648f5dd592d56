import type { Service } from '../runtime/lifecycle.ts';
import type { Queue } from '../task/task/routing.ts';

/**
 * Moves deliveries between processes. The rest of the fleet knows only this file.
 *
 * Delivery is at least once: a `confirmed` message survives any crash, and may be delivered again after one. Order is not
 * promised. A message that outlives its TTL in a queue vanishes, and its task comes back when the lease lapses.
 *
 * `stop` stops consumers, waits for handlers in flight, and then disconnects. Implementations:
 * `transports/rabbitmq` for a fleet, `transports/local.ts` for one process; both pass
 * `test/contract/suites/transport.contract.ts`.
 */
export interface Transport extends Service {
  /**
   * Hands messages to the broker and resolves with one outcome per message, in the order given, once all are known. Never
   * rejects. Waits while too many messages are unconfirmed.
   */
  publish(messages: readonly OutgoingMessage[]): Promise<readonly PublishOutcome[]>;
  /** Runs `handler` on deliveries until the consumer is stopped; at most `prefetch` are unanswered at a time. */
  consume(queue: Queue, handler: Handler, options: ConsumeOptions): Promise<Consumer>;
  /** How many messages wait in each queue now, not counting those that consumers hold. */
  depths(): Promise<QueueDepths>;
  /** Returns what hinders publishing at the moment, wholly or partly; `undefined` if nothing does. */
  trouble(): TransportTrouble | undefined;
}

export interface ConsumeOptions {
  readonly prefetch: number;
  /** Defaults to `manual`. */
  readonly ack?: AckMode | undefined;
}

/**
 * When a delivery is acked. `manual`: when its handler has ended. `auto`: when the broker hands it over. With `auto`, the
 * whole queue arrives at once whatever the prefetch, the handler's answer is ignored, and a crash loses the deliveries in hand.
 */
export type AckMode = 'manual' | 'auto';

/** Where a message goes: a work queue, or the dead letters. */
export type Destination = Queue | 'failed';

export interface OutgoingMessage {
  readonly to: Destination;
  /** The task's id. */
  readonly id: string;
  readonly body: string | Uint8Array;
  readonly headers: MessageHeaders;
  /** Milliseconds the message stays in the queue. Has no effect beyond the queue's own TTL. */
  readonly ttlMs?: number;
}

/** The headers a message can carry. A transport drops all others, in both directions. */
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
 * `confirmed`: the broker has taken responsibility. `returned`: no queue took it. `refused`: the broker refused it. `too_large`: it
 * refuses messages of this size, and trying again is no use until its operator has changed that.
 * `unknown`: the connection was lost first. The message may or may not have arrived, and is not sent again.
 */
export type PublishOutcome = 'confirmed' | 'returned' | 'refused' | 'too_large' | 'unknown';

export interface Delivery {
  readonly queue: Queue;
  readonly id: string | undefined;
  readonly body: Uint8Array;
  readonly headers: MessageHeaders;
  /** The message may have been delivered before. */
  readonly redelivered: boolean;
}

/** A handler's answer: `ack` ends the delivery, `return` puts it back in the queue for any consumer. Throwing means `return`. */
export type Handling = 'ack' | 'return';
export type Handler = (delivery: Delivery) => Promise<Handling>;

export interface Consumer {
  /** Takes no more deliveries, and resolves when those in hand have been answered. Safe to call twice. */
  stop(): Promise<void>;
  /** Whether it is attached to the broker right now. */
  readonly consuming: boolean;
}

export type QueueDepths = Readonly<Record<Destination, { readonly ready: number; readonly consumers: number }>>;

/**
 * `blocked`: the broker accepts nothing, for the reason it gave. `full`: a queue has refused messages within the last
 * seconds; others may still be accepted. `too_large`: the broker refuses messages of the size of some, and accepts all others.
 */
export type TransportTrouble = 'disconnected' | PartialTrouble | `blocked: ${string}`;

/** Troubles despite which most messages are accepted. */
export type PartialTrouble = 'full' | 'too_large';

/** Does the transport still accept messages, at least some of them? */
export function acceptsSome(trouble: TransportTrouble | undefined): trouble is PartialTrouble | undefined {
  return trouble === undefined || trouble === 'full' || trouble === 'too_large';
}

/** An optional ability: reading dead letters without consuming them, and deleting some. */
export interface DeadLetters {
  /** Up to `limit` letters, oldest first. They stay where they are. */
  browse(limit: number): Promise<readonly DeadLetterMessage[]>;
  /**
   * Passes the present letters to `judge`, oldest first and in batches, and deletes the ones it picks once it has answered.
   * All others stay, in order as far as the broker preserves it. Letters that arrive meanwhile are not shown. Only one
   * caller reads at a time; the next waits. Ends early once `signal` is aborted.
   *
   * After a crash, some of the picked letters may still be there; a letter that was not picked is never lost.
   */
  sift(judge: LetterJudge, signal?: AbortSignal): Promise<void>;
}

/**
 * Reads the depths of the queues, and reads and deletes dead letters, without declaring anything or consuming from the work
 * queues. An undeclared queue counts as empty.
 */
export interface QueueInspector extends DeadLetters {
  depths(): Promise<QueueDepths>;
}

/** Returns the fate of each letter, in the order given. If it rejects, all of them stay. */
export type LetterJudge = (letters: readonly DeadLetterMessage[]) => Promise<readonly LetterFate[]>;
export type LetterFate = 'keep' | 'delete';

export interface DeadLetterMessage {
  readonly id: string | undefined;
  readonly body: Uint8Array;
  readonly headers: MessageHeaders;
  /** Absent if the message was published as a dead letter. */
  readonly moved?: MovedByBroker;
}

/** Where a message was before the broker dead-lettered it by itself, because of a policy set by its operator. */
export interface MovedByBroker {
  /** The queue's name on the broker. */
  readonly from: string;
  /** In the broker's words: `expired`, `maxlen`, `rejected` or `delivery_limit`. */
  readonly why: string;
  /** Epoch milliseconds. Absent if the broker didn't say. */
  readonly at?: number;
}
