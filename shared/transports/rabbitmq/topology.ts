import { LETTER_TTL_MS } from '../../ports/dead-letter.ts';
import type { Destination } from '../../ports/transport.ts';
import { HOUR_MS, MINUTE_MS } from '../../task/durations.ts';

/** `quorum` survives the loss of a node and syncs to disk before it confirms; `classic` suits a tiny single node. */
export type QueueType = 'quorum' | 'classic';

/** One queue and the one binding that feeds it. */
export interface QueueDeclaration {
  readonly destination: Destination;
  readonly name: string;
  readonly exchange: string;
  readonly routingKey: string;
  readonly arguments: Readonly<Record<string, string | number>>;
}

/** Longest time a message waits in each queue. */
export const QUEUE_TTL_MS: Readonly<Record<Destination, number>> = {
  priority: 30 * MINUTE_MS,
  normal: HOUR_MS,
  failed: LETTER_TTL_MS,
};

/**
 * Number of returns after which a quorum queue drops a message: practically unlimited. By default, 4.x drops a message after 20
 * returns, and every reading of the dead letters counts as one. On 3.10, -1 would mean "drop at once". Crash loops are counted
 * by the frontier instead.
 */
const DELIVERY_LIMIT = 1_000_000;

/**
 * Returns Trawl's declarations on the broker, as data. All exchanges are direct and durable, and all queues are durable.
 *
 * | exchange          | key        | queue            | TTL    |
 * |-------------------|------------|------------------|--------|
 * | `crawl`           | `priority` | `priority_queue` | 30 min |
 * | `crawl`           | `normal`   | `url_queue_ttl`  | 1 h    |
 * | `failed_exchange` | `failed`   | `failed_urls`    | 24 h   |
 */
export function topology(
  prefix: string,
  type: QueueType,
  ttlMs: Readonly<Record<Destination, number>> = QUEUE_TTL_MS,
): readonly QueueDeclaration[] {
  const limit = type === 'quorum' ? { 'x-delivery-limit': DELIVERY_LIMIT } : {};
  const declare = (destination: Destination, exchange: string, name: string): QueueDeclaration => ({
    destination,
    name: prefix + name,
    exchange: prefix + exchange,
    routingKey: destination,
    arguments: { 'x-queue-type': type, 'x-message-ttl': ttlMs[destination], ...limit },
  });
  return [
    declare('priority', 'crawl', 'priority_queue'),
    declare('normal', 'crawl', 'url_queue_ttl'),
    declare('failed', 'failed_exchange', 'failed_urls'),
  ];
}
