import type { FetchError } from '../../ports/fetcher.ts';
import type { BodyShare } from '../body-memory.ts';

/**
 * The body of an answer as it comes over the wire, still coded. Every fetcher implements it, and {@link Answer} reads it in one of three
 * ways: whole, piece by piece, or not at all.
 *
 * A body that breaks off ends each of them with an error that `toFetchError` understands.
 */
export interface WireBody extends AsyncIterable<Uint8Array> {
  /** Reads the whole body, as fast as its share of memory allows. If it exceeds `most` bytes, the request ends at once with `tooLong()`. */
  whole(most: number, tooLong: () => FetchError, share: BodyShare): Promise<Uint8Array>;
  /** Discards the body, reading up to `most` bytes so that the connection can be used again. Errors are ignored. */
  leave(most: number): void;
  /** Ends the request, with this error for the body's reader. Has no effect after the body's end. */
  destroy(error?: FetchError): void;
}
