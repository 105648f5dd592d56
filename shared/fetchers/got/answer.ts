import type { IncomingHttpHeaders } from 'node:http';
import type { PlainResponse, Request } from 'got';
import { FetchError, type OpenDocument } from '../../ports/fetcher.ts';
import { codeOf } from '../../runtime/errors.ts';
import { type Coding, codingsOf, decodeStream, decodeWhole } from '../content-coding.ts';
import { toFetchError } from './error-codes.ts';
import { emptyFinished } from './finished-request.ts';

/** What is told of an answer's headers. Cookies above all are not. */
const KEPT_HEADERS = [
  'age',
  'cache-control',
  'content-encoding',
  'content-language',
  'content-length',
  'content-type',
  'date',
  'etag',
  'expires',
  'last-modified',
  'link',
  'location',
  'retry-after',
  'server',
  'x-robots-tag',
] as const;

/** A coded body is the longer one when there was nothing to gain: by a frame, and 5 bytes for each block. */
const CODED_SLACK_BYTES = 65_536;

/**
 * Bodies up to this size, coded once, are decoded in one go. For a page of 10 KB that costs an eighth of what a stream does.
 */
const SMALL_BODY_BYTES = 65_536;
/** In one go, a body may grow to this size: a bomb then blocks for about 20 ms. What grows beyond is read as a stream. */
const MAX_BLOCKING_BYTES = 16 * 2 ** 20;

/** What is read of the body of an error page. */
const MOST_UNWANTED_BYTES = 65_536;

/** What bounds the reading of a body. */
export interface AnswerLimits {
  /** Decoded. A document has none: its reader stops where it has enough. */
  readonly maxBodyBytes: number;
  /** For the whole request, of which `startedAt` is the beginning, on the clock of `performance.now`. */
  readonly timeoutMs: number;
  readonly startedAt: number;
  readonly signal: AbortSignal | undefined;
}

/** An answer whose headers are in. Its body is read once: whole, or piece by piece. */
export class Answer {
  readonly finalUrl: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly #stream: Request;
  readonly #codings: readonly Coding[] | undefined;
  readonly #limits: AnswerLimits;
  readonly #maxBodyBytes: number;
  /** While whoever reads a body in pieces is busy with one, nothing is decoded: that time is left out. */
  #idleMs = 0;

  constructor(stream: Request, response: PlainResponse, limits: AnswerLimits) {
    this.finalUrl = withoutFragment(response.url);
    this.status = response.statusCode;
    this.headers = keptHeaders(response.headers);
    this.#stream = stream;
    this.#codings = codingsOf(response.headers['content-encoding']);
    this.#limits = limits;
    this.#maxBodyBytes = limits.maxBodyBytes;
  }

  /** Is it what was asked for? Any other answer says all it has to say by its status. */
  get isPage(): boolean {
    return this.status >= 200 && this.status <= 299;
  }

  /** Why the body must not be read, as far as the headers tell; nothing if it may. */
  get problem(): FetchError | undefined {
    if (!this.isPage) return undefined;
    if (this.#codings === undefined) {
      const coding = this.headers['content-encoding'];
      return new FetchError('encoding', `The body is coded as ${coding}, which can't be undone`, {
        status: this.status,
      });
    }
    return Number(this.headers['content-length']) > this.#mostOnTheWire ? this.#tooLong() : undefined;
  }

  /** Reads the whole body. Rejects with a {@link FetchError}. */
  async whole(): Promise<Uint8Array> {
    const codings = this.#codings ?? [];
    try {
      const coded = await this.#received(this.#mostOnTheWire);
      if (codings.length === 0) return coded;
      return this.#decodeAtOnce(coded, codings) ?? (await this.#collect(this.#decode(one(coded)), this.#maxBodyBytes));
    } catch (error: unknown) {
      throw toFetchError(error, this.status);
    }
  }

  /**
   * Lets go of a body that nobody wants: it is read while the caller goes on, so that the connection can be used again,
   * but not for long. However it ends, the answer stands: a 429 whose page breaks off is a 429.
   */
  leave(): void {
    let left = MOST_UNWANTED_BYTES;
    this.#stream.on('data', (chunk: Uint8Array) => {
      left -= chunk.length;
      if (left < 0) this.#stream.destroy();
    });
  }

  /** The body as it arrives. */
  pieces(): OpenDocument['body'] {
    const pieces = this.#read();
    return {
      [Symbol.asyncIterator]: () => pieces,
      destroy: () => {
        this.#stream.destroy(new FetchError('aborted', 'The body was not read to its end', { status: this.status }));
      },
    };
  }

  get #mostOnTheWire(): number {
    return this.#codings?.length === 0 ? this.#maxBodyBytes : this.#maxBodyBytes + CODED_SLACK_BYTES;
  }

  /** Nothing, when that might block for long. */
  #decodeAtOnce(coded: Uint8Array, [coding, ...others]: readonly Coding[]): Uint8Array | undefined {
    if (coding === undefined || others.length > 0 || coded.length > SMALL_BODY_BYTES) return undefined;
    try {
      return decodeWhole(coded, coding, Math.min(this.#maxBodyBytes, MAX_BLOCKING_BYTES));
    } catch (error: unknown) {
      if (codeOf(error) !== 'ERR_BUFFER_TOO_LARGE') throw error;
      if (this.#maxBodyBytes <= MAX_BLOCKING_BYTES) throw this.#tooLong();
      return undefined;
    }
  }

  #decode(body: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
    return decodeStream(body, this.#codings ?? [], () => this.#checkpoint());
  }

  /** Once a body is in, got's time-out and the caller's signal no longer reach it: decoding asks for both itself. */
  #checkpoint(): void {
    const { signal, startedAt, timeoutMs } = this.#limits;
    if (signal?.aborted) throw abortedBy(signal);
    if (performance.now() - startedAt - this.#idleMs > timeoutMs) {
      throw new FetchError('timeout', `The body could not be decoded within ${timeoutMs} ms`, { status: this.status });
    }
  }

  async *#read(): AsyncGenerator<Uint8Array> {
    try {
      for await (const chunk of this.#decode(this.#stream)) {
        const handedOverAt = performance.now();
        yield chunk;
        this.#idleMs += performance.now() - handedOverAt;
      }
    } catch (error: unknown) {
      throw toFetchError(error, this.status);
    } finally {
      // Whoever leaves the loop early wants no more of it. After the end this changes nothing.
      if (!this.#stream.readableEnded) this.#stream.destroy();
    }
  }

  /** The body as it came over the wire. By its events: iterating over a stream costs a page as much as parsing its links. */
  #received(most: number): Promise<Uint8Array> {
    const stream = this.#stream;
    return new Promise((resolve, reject) => {
      const chunks: Uint8Array[] = [];
      let size = 0;
      stream.on('data', (chunk: Uint8Array) => {
        size += chunk.length;
        chunks.push(chunk);
        if (size > most) stream.destroy(this.#tooLong());
      });
      stream.on('end', () => {
        resolve(chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks, size));
        // Others still have to hear of this end.
        setImmediate(emptyFinished, stream);
      });
      stream.on('error', reject);
      const brokeOff = (): void => reject(stream.errored ?? new FetchError('connection', 'The answer broke off'));
      stream.on('close', brokeOff);
      // It may have ended badly before anybody listened.
      if (stream.destroyed) brokeOff();
    });
  }

  async #collect(body: AsyncIterable<Uint8Array>, most: number): Promise<Uint8Array> {
    const chunks: Uint8Array[] = [];
    let size = 0;
    for await (const chunk of body) {
      size += chunk.length;
      if (size > most) throw this.#tooLong();
      chunks.push(chunk);
    }
    return Buffer.concat(chunks, size);
  }

  #tooLong(): FetchError {
    return new FetchError('size', `The body is over ${this.#maxBodyBytes} bytes`, { status: this.status });
  }
}

/** The caller doesn't want an answer any more. */
export function abortedBy(signal: AbortSignal): FetchError {
  return new FetchError('aborted', 'The request was aborted', { cause: signal.reason });
}

async function* one(chunk: Uint8Array): AsyncGenerator<Uint8Array> {
  yield chunk;
}

function keptHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const name of KEPT_HEADERS) {
    const value = headers[name];
    if (value !== undefined) kept[name] = typeof value === 'string' ? value : value.join(', ');
  }
  return kept;
}

function withoutFragment(url: string): string {
  const fragment = url.indexOf('#');
  return fragment < 0 ? url : url.slice(0, fragment);
}
