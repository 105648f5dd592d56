import type { Offer } from '../../shared/ports/frontier/frontier.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import type { Seeded } from './offer.ts';

/** Time for which offers are kept. A store that writes its log once a second can forget more than a second, but not three. */
export const KEPT_MS = 3_000;

interface KeptBatch {
  readonly at: number;
  /**
   * The URLs, one per line, in the first `length` bytes. A `!` precedes those of the priority queue; the time of a change, if there is one,
   * follows the URL.
   */
  readonly bytes: Buffer;
  readonly length: number;
  readonly malformed: readonly string[];
  /** Offers with credentials: few, and not stored as lines. */
  readonly loggedIn: readonly Seeded[];
}

/**
 * The offers that the frontier has answered in the last three seconds, so that they can be repeated.
 *
 * They are kept as bytes, in reused buffers: at 100 000 URLs a second that is 25 MB outside the heap, where the offers themselves would be
 * 100 MB for the garbage collector to move around.
 */
export class RecentOffers {
  readonly #clock: Clock;
  readonly #batches: KeptBatch[] = [];
  readonly #spare: Buffer[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  keep(offers: readonly Offer[]): void {
    const now = this.#clock.monotonic();
    for (let [oldest] = this.#batches; oldest !== undefined && oldest.at < now - KEPT_MS; [oldest] = this.#batches) {
      this.#batches.shift();
      this.#spare.push(oldest.bytes);
    }
    const urls: string[] = [];
    const malformed: string[] = [];
    const loggedIn: Seeded[] = [];
    for (const offer of offers) {
      if ('malformed' in offer) malformed.push(offer.malformed);
      else if (offer.logins === undefined) urls.push(writeLine(offer));
      else loggedIn.push({ ...readLine(writeLine(offer)), logins: offer.logins });
    }
    // Serialised URLs are ASCII.
    const text = urls.join('\n');
    const spare = this.#spare.pop();
    const bytes = spare !== undefined && spare.length >= text.length ? spare : Buffer.allocUnsafeSlow(text.length);
    this.#batches.push({ at: now, bytes, length: bytes.write(text, 'latin1'), malformed, loggedIn });
  }

  /** Returns the offers batch by batch, the oldest first, each marked for the queue that it was offered to. */
  list(): readonly (readonly Seeded[])[] {
    return this.#batches.map(({ bytes, length, malformed, loggedIn }) => [
      ...(length === 0 ? [] : bytes.toString('latin1', 0, length).split('\n').map(readLine)),
      ...malformed.map((loc) => ({ loc })),
      ...loggedIn,
    ]);
  }
}

function writeLine({ url, queue, changedAt }: Exclude<Offer, { malformed: unknown }>): string {
  const line = queue === 'priority' ? `!${url}` : url;
  return changedAt === undefined ? line : `${line} ${changedAt}`;
}

function readLine(line: string): Seeded {
  const isNews = line.startsWith('!');
  const [loc = '', changedAt] = (isNews ? line.slice(1) : line).split(' ');
  return { loc, ...(isNews ? { isNews } : {}), ...(changedAt === undefined ? {} : { changedAt: Number(changedAt) }) };
}
