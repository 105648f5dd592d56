import {
  FetchError,
  type FetchedPage,
  MOST_UNWANTED_BYTES,
  type OpenDocument,
  type PageHold,
  type PageRequest,
} from '../ports/fetcher.ts';
import { codeOf } from '../runtime/errors.ts';
import { isErrorStatus } from '../task/task/taken-statuses.ts';
import type { Asked } from './asked.ts';
import type { BodyMemory, BodyShare } from './body-memory.ts';
import { BodyStart } from './decoding/body-start.ts';
import { type Coding, codingsOf, decodeStream, decodeWhole } from './decoding/content-coding.ts';
import { membersOf } from './decoding/gzip-members.ts';
import type { WireBody } from './decoding/wire-body.ts';
import { toFetchError } from './error-codes.ts';
import { cookieLines, keptHeaders } from './kept-headers.ts';
import type { RequestClock } from './request-clock.ts';

/** How much longer than its content a coded body can be if the content can't be compressed: a frame, and 5 bytes for each block. */
const CODED_SLACK_BYTES = 65_536;

/** Maximum size of a body that is decoded in one call, given a single coding. For a page of 10 KB that costs an eighth of a stream. */
const SMALL_BODY_BYTES = 65_536;
/** Maximum size to which such a body may grow, so a decompression bomb blocks for about 20 ms. A larger one is read as a stream. */
const MAX_BLOCKING_BYTES = 16 * 2 ** 20;

/** The limits for reading a body. */
export interface AnswerLimits {
  /** Maximum bytes of the body after decoding. A document has no limit: its reader stops when it has enough. */
  readonly maxBodyBytes: number;
  readonly memory: BodyMemory;
  readonly clock: RequestClock;
  /** Time limit of the whole request. */
  readonly timeoutMs: number;
  /** When that limit is reached, on `clock`. */
  readonly endsAtMs: number;
  readonly signal: AbortSignal | undefined;
}

/** The part of an answer before its body. */
export interface AnswerHead {
  /** The request's method. Default: GET. */
  readonly method?: string | undefined;
  readonly url: string;
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
}

/** Maximum size of a coded document that can be decoded a second time: enough for robots.txt and most sitemaps. */
const MOST_REPEATED_BYTES = 2 ** 18;

const NO_BYTES = new Uint8Array();

/** Statuses whose answers end with their headers (RFC 9112 section 6.3), though some servers send a body, or the end of one. */
const BODILESS: ReadonlySet<number> = new Set([204, 304]);

/** An answer whose headers are in. Its body is read once, either whole or in pieces. */
export class Answer {
  readonly finalUrl: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The `Set-Cookie` lines, for the caller only: they are not among the headers that are passed on. */
  readonly setCookies: readonly string[];
  readonly #hasBody: boolean;
  readonly #body: WireBody;
  readonly #codings: readonly Coding[] | undefined;
  readonly #limits: AnswerLimits;
  readonly #maxBodyBytes: number;
  /** Time that the reader spent on pieces of the body. Nothing is decoded meanwhile, so it counts towards no time limit. */
  #idleMs = 0;

  constructor({ method, url, status, headers }: AnswerHead, body: WireBody, limits: AnswerLimits) {
    this.finalUrl = withoutFragment(url);
    this.status = status;
    this.headers = keptHeaders(headers);
    this.setCookies = cookieLines(headers['set-cookie']);
    this.#hasBody = method !== 'HEAD' && !BODILESS.has(status);
    this.#body = this.#hasBody ? body : new NoBody(body);
    this.#codings = codingsOf(this.headers['content-encoding'], headers['transfer-encoding']);
    this.#limits = limits;
    this.#maxBodyBytes = limits.maxBodyBytes;
    const { connection } = headers;
    if (saysClose(connection)) limits.clock.closing();
  }

  /** Reads the answer as a page. Rejects with a {@link FetchError}. */
  async page({ hold, accepts, takes }: Pick<PageRequest, 'hold' | 'accepts' | 'takes'>): Promise<FetchedPage> {
    const { finalUrl, status, headers } = this;
    const isTaken = isErrorStatus(status) && takes?.(status) === true;
    const body = isTaken
      ? await this.#bodyOfTaken(hold, accepts)
      : this.#isPage && this.#hasBody
        ? await this.#whole(hold)
        : this.#left();
    const { elapsedMs: durationMs } = this.#limits.clock;
    return body instanceof FetchError
      ? { finalUrl, status, headers, body: NO_BYTES, durationMs, unread: body }
      : { finalUrl, status, headers, body, durationMs };
  }

  /** Opens the answer as a document. */
  document(): OpenDocument {
    const { finalUrl, status, headers } = this;
    return { finalUrl, status, headers, body: this.#pieces() };
  }

  /** Returns why the answer is unusable, judging by its headers, or `undefined` if it is usable. */
  problemFor({ accepts }: Asked): FetchError | undefined {
    // RFC 9110 section 15. The parser of Node.js accepts any three digits.
    if (this.status < 100) return new FetchError('connection', `Invalid status ${this.status}`);
    return this.#isPage ? this.#pageProblem(accepts) : undefined;
  }

  #pageProblem(accepts: PageRequest['accepts']): FetchError | undefined {
    const contentType = this.headers['content-type'];
    if (accepts === undefined || accepts(contentType)) return this.#bodyProblem;
    const told = `The answer is ${contentType ?? 'without a content type'}`;
    return new FetchError('content_type', told, { status: this.status });
  }

  /** Whether this is the page that was asked for. Of any other answer, only status and headers matter. */
  get #isPage(): boolean {
    return this.status >= 200 && this.status <= 299;
  }

  get #bodyProblem(): FetchError | undefined {
    if (!this.#hasBody) return undefined;
    if (this.#codings === undefined) {
      const coding = this.headers['content-encoding'];
      return new FetchError('encoding', `The body is coded as ${coding}, which can't be decoded`, {
        status: this.status,
      });
    }
    return Number(this.headers['content-length']) > this.#mostOnTheWire ? this.#tooLong() : undefined;
  }

  /** Reads the body of an error that is taken as a page. If that fails, the answer still counts: a 429 is still a 429. */
  async #bodyOfTaken(hold: PageHold | undefined, accepts: PageRequest['accepts']): Promise<Uint8Array | FetchError> {
    const problem = this.#pageProblem(accepts);
    if (problem !== undefined || !this.#hasBody) {
      const nothing = this.#left();
      return problem ?? nothing;
    }
    try {
      return await this.#whole(hold);
    } catch (error: unknown) {
      return toFetchError(error, this.status);
    }
  }

  /** Leaves the body unread. */
  #left(): Uint8Array {
    this.#body.leave(MOST_UNWANTED_BYTES);
    return NO_BYTES;
  }

  async #whole(hold: PageHold | undefined): Promise<Uint8Array> {
    const { memory, clock } = this.#limits;
    const share = memory.open(this.#saysBytes, this.#mostOnTheWire, clock);
    try {
      const coded = await this.#body.whole(this.#mostOnTheWire, () => this.#tooLong(), share);
      const body = await this.#decoded(coded, share);
      share.settle(body.length);
      if (hold === undefined) share.close();
      else hold.keep(() => share.close());
      return body;
    } catch (error: unknown) {
      share.close();
      throw toFetchError(error, this.status);
    }
  }

  async #decoded(coded: Uint8Array, share: BodyShare): Promise<Uint8Array> {
    try {
      return this.#decodeAtOnce(coded, share) ?? (await this.#collect(this.#decode(one(coded)), share));
    } catch (error: unknown) {
      return await this.#collect(this.#decode(one(await this.#membersIn(coded, error))), share);
    }
  }

  /** Returns the decodable part of a coded body whose only fault is extra bytes behind its end; rethrows `error` for any other body. */
  async #membersIn(coded: Uint8Array, error: unknown): Promise<Uint8Array> {
    const isBroken = /^Z_(DATA|BUF)_ERROR$/.test(codeOf(error) ?? '');
    const members = isBroken ? await membersOf(coded, () => this.#checkpoint()) : undefined;
    if (members === undefined) throw error;
    return members;
  }

  get #saysBytes(): number | undefined {
    const length = Number(this.headers['content-length']);
    return length >= 0 ? length : undefined;
  }

  #pieces(): OpenDocument['body'] {
    const pieces = this.#read();
    return {
      [Symbol.asyncIterator]: () => pieces,
      destroy: () =>
        this.#body.destroy(new FetchError('aborted', 'The body was not read to its end', { status: this.status })),
    };
  }

  get #mostOnTheWire(): number {
    return this.#codings?.length === 0 ? this.#maxBodyBytes : this.#maxBodyBytes + CODED_SLACK_BYTES;
  }

  /** Decodes the body in one call. Returns nothing if that might block for long, or take more memory than is free. */
  #decodeAtOnce(coded: Uint8Array, share: BodyShare): Uint8Array | undefined {
    const [coding, ...others] = this.#codings ?? [];
    if (coding === undefined) return coded;
    if (others.length > 0 || coded.length > SMALL_BODY_BYTES) return undefined;
    const most = Math.min(this.#maxBodyBytes, MAX_BLOCKING_BYTES, share.roomBytes);
    if (most === 0) return undefined;
    try {
      return decodeWhole(coded, coding, most);
    } catch (error: unknown) {
      if (codeOf(error) !== 'ERR_BUFFER_TOO_LARGE') throw error;
      if (this.#maxBodyBytes === most) throw this.#tooLong();
      return undefined;
    }
  }

  #decode(body: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
    return decodeStream(body, this.#codings ?? [], () => this.#checkpoint());
  }

  /** Throws if the request was aborted or is late. Decoding has to check, since the request's own time-out and signal end with the body's arrival. */
  #checkpoint(): void {
    const { signal, clock, endsAtMs, timeoutMs } = this.#limits;
    if (signal?.aborted) throw abortedBy(signal);
    if (clock.elapsedMs - this.#idleMs > endsAtMs) {
      throw new FetchError('timeout', `The body could not be decoded within ${timeoutMs} ms`, { status: this.status });
    }
  }

  async *#read(): AsyncGenerator<Uint8Array> {
    try {
      for await (const chunk of this.#codings?.length === 0 ? this.#body : this.#decodePieces()) {
        const handedOverAt = performance.now();
        yield chunk;
        this.#idleMs += performance.now() - handedOverAt;
      }
    } catch (error: unknown) {
      throw toFetchError(error, this.status);
    } finally {
      // A reader that leaves the loop early doesn't need the rest of the body.
      this.#body.destroy();
    }
  }

  /** Decodes a body as it arrives. If extra bytes follow its end, the last decoded piece is lost, so the body is decoded a second time. */
  async *#decodePieces(): AsyncGenerator<Uint8Array> {
    const start = new BodyStart(MOST_REPEATED_BYTES);
    let decoded = 0;
    try {
      for await (const chunk of this.#decode(start.of(this.#body))) {
        decoded += chunk.length;
        yield chunk;
      }
    } catch (error: unknown) {
      const members = await this.#membersIn(start.bytes, error);
      for await (const chunk of this.#decode(one(members))) {
        const known = Math.min(decoded, chunk.length);
        decoded -= known;
        if (known < chunk.length) yield chunk.subarray(known);
      }
    }
  }

  async #collect(body: AsyncIterable<Uint8Array>, share: BodyShare): Promise<Uint8Array> {
    const chunks: Uint8Array[] = [];
    let size = 0;
    for await (const chunk of body) {
      size += chunk.length;
      if (size > this.#maxBodyBytes) throw this.#tooLong();
      chunks.push(chunk);
      if (!share.take(chunk.length)) await this.#room(share);
    }
    return Buffer.concat(chunks, size);
  }

  /** Waits for memory to continue decoding. Rejects if the caller's signal is aborted meanwhile. */
  async #room(share: BodyShare): Promise<void> {
    const { signal } = this.#limits;
    await new Promise<void>((resolve) => {
      const goOn = (): void => {
        signal?.removeEventListener('abort', goOn);
        resolve();
      };
      share.onRoom = goOn;
      signal?.addEventListener('abort', goOn);
    });
    this.#checkpoint();
  }

  #tooLong(): FetchError {
    return new FetchError('size', `The body is over ${this.#maxBodyBytes} bytes`, { status: this.status });
  }
}

/** The body of an answer that must not have one. Bytes that arrive all the same are discarded and do no harm. */
class NoBody implements WireBody {
  readonly #sent: WireBody;

  constructor(sent: WireBody) {
    this.#sent = sent;
  }

  async whole(): Promise<Uint8Array> {
    this.leave();
    return NO_BYTES;
  }

  leave(): void {
    this.#sent.leave(MOST_UNWANTED_BYTES);
  }

  destroy(): void {
    this.leave();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {}
}

/** Returns the error of a request that its caller aborted. */
export function abortedBy(signal: AbortSignal): FetchError {
  return new FetchError('aborted', 'The request was aborted', { cause: signal.reason });
}

async function* one(chunk: Uint8Array): AsyncGenerator<Uint8Array> {
  yield chunk;
}

/** Returns whether the server closes the connection after this answer (RFC 9112 section 9.6). */
function saysClose(connection: string | readonly string[] | undefined): boolean {
  return connection !== undefined && /\bclose\b/i.test(String(connection));
}

function withoutFragment(url: string): string {
  const fragment = url.indexOf('#');
  return fragment < 0 ? url : url.slice(0, fragment);
}
