import type { FetchError } from '../ports/fetcher.ts';
import type { BodyShare } from './body-memory.ts';

/**
 * The body of an answer as it comes over the wire, still coded. Every fetcher has one, and {@link Answer} reads it, in one of
 * three ways: whole, piece by piece, or not at all.
 *
 * A body that breaks off ends each of them with an error that `toFetchError` understands.
 */
export interface WireBody extends AsyncIterable<Uint8Array> {
  /** Reads it whole, as its share of memory lets it. As soon as more than `most` bytes came, the request ends with `tooLong()`. */
  whole(most: number, tooLong: () => FetchError, share: BodyShare): Promise<Uint8Array>;
  /** Lets go of it: up to `most` bytes are read so that the connection can be used again. However that ends, nobody hears of it. */
  leave(most: number): void;
  /** Ends the request, with this error for whoever reads the body. After the body's end this changes nothing. */
  destroy(error?: FetchError): void;
}
