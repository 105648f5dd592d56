import type { Service } from '../runtime/lifecycle.ts';
import type { Queue } from '../task/task/routing.ts';

/**
 * Moves deliveries between processes. The rest of the fleet knows only this file.
 *
 * Delivery is at least once: a `confirmed` message survives any crash, and any crash may show it again. Order is not
 * promised. A message that outlives its TTL in a queue vanishes: the task comes back through its lease.
 *
 * `stop` stops consumers, waits for handlers in flight, and then disconnects. Implementations:
 * `transports/rabbitmq` for a fleet, `transports/local.ts` for one process; both pass
 * `test/contract/transport.contract.ts`.
 */
export interface Transport extends Service {
  /**
   * Hands messages to the broker, and resolves when the fate of each is known, in the order given. Never rejects. At most
   * a bounded number are unconfirmed at a time: beyond, it waits.
   */
  publish(messages: readonly OutgoingMessage[]): Promise<readonly PublishOutcome[]>;
  /** Runs `handler` on deliveries until the consumer is stopped; at most `prefetch` are handed over and not answered. */
  consume(queue: Queue, handler: Handler, options: ConsumeOptions): Promise<Consumer>;
  /** What waits in each queue now, not counting what consumers hold. */
  depths(): Promise<QueueDepths>;
  /** Why nothing can be published at the moment; nothing if all is well. */
  trouble(): TransportTrouble | undefined;
}

export interface ConsumeOptions {
  readonly prefetch: number;
  /** Left out, `manual`. */
  readonly ack?: AckMode | undefined;
}

/**
 * `manual`: a delivery is answered for when its handler has ended. `auto`: when it is handed over. Then all that the queue
 * holds comes at once, whatever the prefetch, what the handler says is not heard, and a crash loses what is in hand.
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
  /** The message vanishes from the queue after so long, if that is sooner than the queue's own TTL. */
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
 * `confirmed`: the broker answers for it. `returned`: no queue took it. `refused`: the broker said no. `unknown`: the
 * connection was lost first; it may be there or not, and is not sent again.
 */
export type PublishOutcome = 'confirmed' | 'returned' | 'refused' | 'unknown';

export interface Delivery {
  readonly queue: Queue;
  readonly id: string | undefined;
  readonly body: Uint8Array;
  readonly headers: MessageHeaders;
  /** Somebody may have seen it before. */
  readonly redelivered: boolean;
}

/** What becomes of a delivery: over, or back to the queue for somebody else. A handler that throws is a `return`. */
export type Handling = 'ack' | 'return';
export type Handler = (delivery: Delivery) => Promise<Handling>;

export interface Consumer {
  /** Takes no more deliveries; resolves when those handed over have been answered. Safe to call twice. */
  stop(): Promise<void>;
  /** Is it attached to the broker just now? */
  readonly consuming: boolean;
}

export type QueueDepths = Readonly<Record<Destination, { readonly ready: number; readonly consumers: number }>>;

export type TransportTrouble = 'disconnected' | 'blocked';

/** An optional ability: looking at dead letters without consuming them, and taking out some. */
export interface DeadLetters {
  /** Up to `limit` letters, oldest first. They stay where they are. */
  browse(limit: number): Promise<readonly DeadLetterMessage[]>;
  /**
   * Shows `judge` the letters that are there now, oldest first and some at a time, and deletes those that it says so of,
   * after it has said so. All others stay, in their order as far as the broker keeps it. Letters that come meanwhile are
   * not shown. Who looks while another does waits for that. Ends early once `signal` is aborted.
   *
   * A crash deletes fewer than was said, never others.
   */
  sift(judge: LetterJudge, signal?: AbortSignal): Promise<void>;
}

/**
 * Looks into the queues, and takes dead letters out, without declaring anything or consuming from the work queues. A queue
 * that nobody has declared is empty.
 */
export interface QueueInspector extends DeadLetters {
  depths(): Promise<QueueDepths>;
}

/** Says what becomes of each letter, in their order. When it rejects, all of them stay. */
export type LetterJudge = (letters: readonly DeadLetterMessage[]) => Promise<readonly LetterFate[]>;
export type LetterFate = 'keep' | 'delete';

export interface DeadLetterMessage {
  readonly id: string | undefined;
  readonly body: Uint8Array;
  readonly headers: MessageHeaders;
}
