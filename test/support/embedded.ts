import type { Frontier, Offer } from '../../shared/ports/frontier.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import type { FrontierPolicy } from '../../shared/stores/policy.ts';
import { LocalResponseCache } from '../../shared/stores/sqlite/response-cache.ts';
import { LocalRoster } from '../../shared/stores/sqlite/roster.ts';
import { markOf } from '../../shared/task/url/fingerprint.ts';
import { canonicalOf } from '../../shared/task/url/url.ts';
import { LocalTransport } from '../../shared/transports/local.ts';
import { QUEUE_TTL_MS } from '../../shared/transports/rabbitmq/topology.ts';
import { openLocalPorts } from './local-ports.ts';
import { SteppedClock } from './stepped-clock.ts';

const POLICY: FrontierPolicy = {
  hostConcurrency: 0,
  giveUpMs: 600_000,
  priorityTtlMs: QUEUE_TTL_MS.priority,
  normalTtlMs: QUEUE_TTL_MS.normal,
};

/** For a releaser whose failures nobody needs to be told of. */
export async function onFailure(): Promise<void> {}

/** As much as is due, without a window. */
export const EVERYTHING: Parameters<Frontier['release']>[0] = { limit: 1_000, window: 100_000, unpaced: false };

/** Stores and transport of one process, on a clock that the test steps. */
export function openEmbedded() {
  const clock = new SteppedClock();
  const { frontier, runs, marks, gate, hosts, biographer } = openLocalPorts({ clock, policy: POLICY });
  return {
    clock,
    frontier,
    runs,
    marks,
    gate,
    hosts,
    biographer,
    cache: new LocalResponseCache({ clock, ttlMs: 60_000, maxBytes: 1_000_000 }),
    roster: new LocalRoster({ clock }),
    transport: new LocalTransport({ clock, ttlMs: QUEUE_TTL_MS }),
  };
}

/** The offer of a URL. */
export function offerOf(url: string, extra: { readonly deadlineMs?: number; readonly queue?: 'priority' } = {}): Offer {
  const { host } = new URL(url);
  return { url, host, mark: markOf(canonicalOf(url)), step: '', depth: 0, queue: 'normal', ...extra };
}

/** A log whose lines a test can read. */
export class LogLines implements Logger {
  readonly lines: string[] = [];

  debug(): void {}

  info(fields: object, message: string): void {
    this.#add('info', fields, message);
  }

  warn(fields: object, message: string): void {
    this.#add('warn', fields, message);
  }

  error(fields: object, message: string): void {
    this.#add('error', fields, message);
  }

  #add(level: string, fields: object, message: string): void {
    this.lines.push(`${level}: ${[message, ...Object.values(fields)].join(' ')}`);
  }
}

/** Lets everything that can go on without time or input go on. */
export async function settled(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}
