import { Releaser } from '../../../shared/loops/releaser.ts';
import type { Frontier, Offer } from '../../../shared/ports/frontier/frontier.ts';
import type { Logger } from '../../../shared/runtime/logger.ts';
import { markOf } from '../../../shared/task/url/fingerprint.ts';
import { canonicalOf } from '../../../shared/task/url/url.ts';
import { QUEUE_TTL_MS } from '../../../shared/transports/rabbitmq/topology.ts';
import { LetterKeepingTransport } from './letter-keeping-transport.ts';
import { openLocalParts } from './local-parts.ts';
import { SteppedClock } from './stepped-clock.ts';

type ReleaserParts = ConstructorParameters<typeof Releaser>[0];

/** Creates a releaser that ignores failures unless a test handles them. */
export function releaserOf(parts: Omit<ReleaserParts, 'onFailure'> & Partial<ReleaserParts>): Releaser {
  return new Releaser({ onFailure: async () => {}, ...parts });
}

/** Releases everything that is due, without a window. */
export const EVERYTHING: Parameters<Frontier['release']>[0] = { limit: 1_000, window: 100_000, unpaced: false };

/** Opens the stores and the transport of one process on a clock that the test steps. */
export function openEmbedded() {
  const clock = new SteppedClock();
  const parts = openLocalParts({ clock, policy: { hostConcurrency: 0 } });
  return { ...parts, transport: new LetterKeepingTransport({ clock, ttlMs: QUEUE_TTL_MS, letters: parts.letters }) };
}

/** Builds the offer of a URL. */
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

/** Resolves once all work that needs neither time nor input has been done. */
export async function settled(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}
