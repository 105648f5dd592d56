import type { Dispatcher } from 'undici';
import { FetchError } from '../../ports/fetcher.ts';
import type { BodyShare } from '../body-memory.ts';
import type { WireBody } from '../decoding/wire-body.ts';
import { GatheredBytes } from '../gathered-bytes.ts';

/** Bytes that can wait for a slow reader before reading from the connection is paused. */
const HIGH_WATER_BYTES = 65_536;

/** The way the body is read. */
type Reader =
  | { readonly kind: 'none' }
  | {
      readonly kind: 'whole';
      readonly most: number;
      readonly tooLong: () => FetchError;
      readonly share: BodyShare;
      readonly gathered: GatheredBytes;
    }
  | { readonly kind: 'left'; readonly most: number };

/**
 * The body of an answer, which undici pushes chunk by chunk.
 *
 * | reader  | chunks are                                                        |
 * |---------|-------------------------------------------------------------------|
 * | none    | kept, up to the high water; then reading is paused                |
 * | whole   | kept, up to the cap; more ends the request. Reading is paused     |
 * |         | while there is no memory for more                                 |
 * | pieces  | kept as with none                                                 |
 * | left    | dropped; too many end the request                                 |
 */
export class ReceivedBody implements WireBody {
  readonly #controller: Dispatcher.DispatchController;
  readonly #endRequest: (error: FetchError) => void;
  #reader: Reader = { kind: 'none' };
  #chunks: Uint8Array[] = [];
  /** Bytes in `#chunks`; for a body that is left, all bytes received. */
  #bytes = 0;
  #isEnded = false;
  #error: FetchError | undefined;
  /** Wakes a reader that waits for a chunk or the end. */
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
    if (reader.kind === 'whole') {
      reader.gathered.add(chunk);
      if (this.#bytes > reader.most) this.#endRequest(reader.tooLong());
      else if (!reader.share.take(chunk.length)) this.#controller.pause();
      return;
    }
    this.#chunks.push(chunk);
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
    const gathered = new GatheredBytes();
    for (const chunk of this.#chunks.splice(0)) gathered.add(chunk);
    this.#reader = { kind: 'whole', most, tooLong, share, gathered };
    if (this.#bytes > most) {
      const error = tooLong();
      this.#endRequest(error);
      // A short body can have arrived whole before it is read, and a request that is over can't fail.
      throw error;
    }
    share.onRoom = () => this.#controller.resume();
    if (share.take(this.#bytes)) this.#controller.resume();
    else this.#controller.pause();
    while (!this.#isEnded && this.#error === undefined) await this.#news();
    if (this.#error !== undefined) throw this.#error;
    return gathered.whole();
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
        // Set up before reading resumes, since chunks can come within that call.
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

/** The error that ends a body whose reader is gone; nobody sees it. */
function unread(): FetchError {
  return new FetchError('aborted', 'The body was not read to its end');
}
