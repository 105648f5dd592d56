import type { Offer } from '../../shared/ports/frontier/frontier.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import type { Seeded } from './offer.ts';

/** A store that writes its log once a second may forget more than a second, but not three. */
export const KEPT_MS = 3_000;

interface KeptBatch {
  readonly at: number;
  /**
   * The URLs, one a line, in the first `length` bytes; those of the priority queue behind a `!`, and with the time of a
   * change behind where there is one.
   */
  readonly bytes: Buffer;
  readonly length: number;
  readonly malformed: readonly string[];
  /** Offers with credentials: few, and kept out of the lines. */
  readonly loggedIn: readonly Seeded[];
}

/**
 * The offers that the frontier has answered in the last three seconds, so that they can be made again.
 *
 * They are kept as bytes, in buffers that are used again: at 100 000 URLs a second that is 25 MB outside the heap, where
 * the offers themselves would be 100 MB that the garbage collector has to move about.
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
    // What is serialised as a URL is ASCII.
    const text = urls.join('\n');
    const spare = this.#spare.pop();
    const bytes = spare !== undefined && spare.length >= text.length ? spare : Buffer.allocUnsafeSlow(text.length);
    this.#batches.push({ at: now, bytes, length: bytes.write(text, 'latin1'), malformed, loggedIn });
  }

  /** What was offered, batch by batch, oldest first, each to the queue that it was offered to. */
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
