import type { Dispatcher } from 'undici';
import { FetchError } from '../../ports/fetcher.ts';
import type { BodyShare } from '../body-memory.ts';
import type { WireBody } from '../wire-body.ts';

/** What waits for a reader, who may be slow, before the connection is no longer read. */
const HIGH_WATER_BYTES = 65_536;

/** How the body is read. */
type Reader =
  | { readonly kind: 'none' }
  | { readonly kind: 'whole'; readonly most: number; readonly tooLong: () => FetchError; readonly share: BodyShare }
  | { readonly kind: 'left'; readonly most: number };

/**
 * The body of an answer as undici gives it: pushed, chunk by chunk.
 *
 * | reader  | chunks are                                                        |
 * |---------|-------------------------------------------------------------------|
 * | none    | kept, up to the high water; then the connection is not read on    |
 * | whole   | kept, up to its cap; one more ends the request. Without memory    |
 * |         | for more, the connection is not read on                           |
 * | pieces  | the same as with none                                             |
 * | left    | dropped; too many end the request                                 |
 */
export class ReceivedBody implements WireBody {
  readonly #controller: Dispatcher.DispatchController;
  readonly #endRequest: (error: FetchError) => void;
  #reader: Reader = { kind: 'none' };
  #chunks: Uint8Array[] = [];
  /** In `#chunks`; of a body that is left, all that came. */
  #bytes = 0;
  #isEnded = false;
  #error: FetchError | undefined;
  /** Tells who waits for a chunk, or for the end. */
  #wake: (() => void) | undefined;

  /** @param endRequest fails the request, and with it this body */
  constructor(controller: Dispatcher.DispatchController, endRequest: (error: FetchError) => void) {
    this.#controller = controller;
    this.#endRequest = endRequest;
  }

  push(chunk: Uint8Array): void {
    this.#bytes += chunk.length;
    const reader = this.#reader;
    if (reader.kind === 'left') {
      if (this.#bytes > reader.most) this.#endRequest(unread());
      return;
    }
    this.#chunks.push(chunk);
    if (reader.kind === 'whole') {
      if (this.#bytes > reader.most) this.#endRequest(reader.tooLong());
      else if (!reader.share.take(chunk.length)) this.#controller.pause();
      return;
    }
    if (this.#bytes >= HIGH_WATER_BYTES) this.#controller.pause();
    this.#wake?.();
  }

  end(): void {
    this.#isEnded = true;
    this.#wake?.();
  }

  fail(error: FetchError): void {
    this.#error = error;
    this.#chunks = [];
    this.#wake?.();
  }

  async whole(most: number, tooLong: () => FetchError, share: BodyShare): Promise<Uint8Array> {
    this.#reader = { kind: 'whole', most, tooLong, share };
    if (this.#bytes > most) this.#endRequest(tooLong());
    share.onRoom = () => this.#controller.resume();
    if (share.take(this.#bytes)) this.#controller.resume();
    else this.#controller.pause();
    while (!this.#isEnded && this.#error === undefined) await this.#news();
    if (this.#error !== undefined) throw this.#error;
    const [first] = this.#chunks;
    return this.#chunks.length === 1 && first !== undefined ? first : Buffer.concat(this.#chunks, this.#bytes);
  }

  leave(most: number): void {
    this.#reader = { kind: 'left', most };
    this.#chunks = [];
    if (this.#bytes > most) this.#endRequest(unread());
    else this.#controller.resume();
  }

  destroy(error?: FetchError): void {
    if (!this.#isEnded) this.#endRequest(error ?? unread());
    else if (error !== undefined && this.#chunks.length > 0) this.fail(error);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    for (;;) {
      if (this.#error !== undefined) throw this.#error;
      const chunk = this.#chunks.shift();
      if (chunk !== undefined) {
        this.#bytes -= chunk.length;
        yield chunk;
      } else if (this.#isEnded) return;
      else {
        // Before it is read on: chunks may come within that call.
        const news = this.#news();
        this.#controller.resume();
        await news;
      }
    }
  }

  #news(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }
}

/** Nobody hears of it: its reader is gone. */
function unread(): FetchError {
  return new FetchError('aborted', 'The body was not read to its end');
}
