import type { Dispatcher } from 'undici';
import { FetchError } from '../../ports/fetcher.ts';
import { codeOf } from '../../runtime/errors.ts';
import { Answer, type AnswerHead, type AnswerLimits, abortedBy } from '../answer.ts';
import { toFetchError } from '../error-codes.ts';
import type { RequestClock } from '../request-clock.ts';
import type { Abortions } from './abortions.ts';
import { type Connection, NOT_SHARED } from './connection.ts';
import { ReceivedBody } from './received-body.ts';

export interface ExchangeOptions {
  readonly request: Dispatcher.DispatchOptions;
  /** URL of the request, as its answer reports it. */
  readonly url: string;
  readonly limits: AnswerLimits;
  /** Time limit for the answer's headers, from when the request is sent. */
  readonly answerMs: number;
  readonly abortions: Abortions;
  /** Whether it may be sent again if a kept connection loses it. If not, it only gets a fresh connection. */
  readonly mayRepeat: boolean;
  /** Gets a connection for the request; a fresh one if another has lost it. */
  readonly connect: (clock: RequestClock, isFresh: boolean) => Connection;
  /** Returns why an answer is unusable, or nothing if it is usable. */
  readonly problemOf: (answer: Answer) => Error | undefined;
  /** Called when the request is over: answered to its end, or failed. */
  readonly onOver?: (() => void) | undefined;
}

/** Error code of a request that came too late for its connection and was not sent. */
const UNSENT = 'ERR_HTTP2_INVALID_SESSION';

/** Error codes of a lost connection. */
const LOST = /^(ECONNRESET|EPIPE|UND_ERR_(SOCKET|INFO|DESTROYED)|ERR_HTTP2_(INVALID|GOAWAY)_SESSION)$/;

/**
 * One request and its answer: the handler that undici calls. It ends once, with the answer's last byte or with an error. An error reaches
 * its callers at once; undici cleans up afterwards.
 *
 * A server can close an idle connection while a request is being written to it. That says nothing about the host, and a client may repeat
 * such a request on another connection (RFC 9112, section 9.3.1). The same holds for a request that was not sent, or that the server wants
 * over HTTP/1.1.
 */
export class Exchange implements Dispatcher.DispatchHandler {
  /** Resolves once the headers are in, or rejects if they make the body unwanted. */
  readonly answer: Promise<Answer>;
  readonly #options: ExchangeOptions;
  #resolve: (answer: Answer) => void = () => {};
  #reject: (error: FetchError) => void = () => {};
  #connection: Connection | undefined;
  #controller: Dispatcher.DispatchController | undefined;
  #body: ReceivedBody | undefined;
  #status: number | undefined;
  #isOver = false;
  #isRepeat = false;
  /** Bytes that its connection had received when the request was sent. */
  #heardBefore = 0;

  constructor(options: ExchangeOptions) {
    this.#options = options;
    this.answer = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    const { limits, abortions } = options;
    limits.clock.setAlarm(limits.endsAtMs, this.#late);
    if (limits.signal !== undefined) abortions.add(limits.signal, this);
    this.#send(false);
  }

  abort(signal: AbortSignal): void {
    this.#fail(abortedBy(signal));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    this.#connection?.begin(controller);
    this.#heardBefore = this.#connection?.heardBytes ?? 0;
    if (this.#isOver) controller.abort(new Error('The request was given up'));
    else {
      const { answerMs, limits } = this.#options;
      limits.clock.sent();
      if (answerMs < limits.timeoutMs) limits.clock.setAlarm(limits.clock.elapsedMs + answerMs, this.#late);
    }
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: AnswerHead['headers']): void {
    // An interim response such as 103 is not the answer yet.
    if (this.#isOver || status < 200) return;
    const { request, url, limits, answerMs, problemOf } = this.#options;
    this.#status = status;
    if (answerMs < limits.timeoutMs) limits.clock.setAlarm(limits.endsAtMs, this.#late);
    const body = new ReceivedBody(controller, (error) => this.#fail(error));
    const answer = new Answer({ method: request.method, url, status, headers }, body, limits);
    const problem = problemOf(answer);
    if (problem === undefined) {
      this.#body = body;
      this.#resolve(answer);
    } else this.#fail(problem);
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Uint8Array): void {
    this.#connection?.noteBody(chunk.length);
    if (!this.#isOver) this.#body?.push(chunk);
  }

  /** Ends the answer after a microtask, so that bytes behind its end are noticed first: the body may be longer than declared. */
  onResponseEnd(): void {
    queueMicrotask(() => {
      if (this.#isOver) return;
      const breakage = this.#connection?.breakage;
      if (breakage !== undefined) {
        this.#fail(breakage);
        return;
      }
      this.#over(true);
      this.#body?.end();
    });
  }

  onResponseError(_: Dispatcher.DispatchController | undefined, error: Error): void {
    if (this.#isOver) return;
    if (this.#isLost(error)) this.#send(true);
    else this.#fail(error);
  }

  #send(isRepeat: boolean): void {
    // It has lost this request, and would lose the next one.
    if (isRepeat) this.#connection?.retire();
    this.#connection?.leave(false);
    this.#isRepeat = isRepeat;
    this.#controller = undefined;
    const { connect, limits, mayRepeat } = this.#options;
    this.#connection = connect(limits.clock, isRepeat || !mayRepeat);
    this.#connection.send(this.#options.request, this);
  }

  #isLost(error: Error): boolean {
    const code = codeOf(error) ?? '';
    if (code === NOT_SHARED) return true;
    if (!this.#options.mayRepeat || this.#isRepeat || this.#status !== undefined) return false;
    const { isKept = false, isHttp1Required = false } = this.#connection ?? {};
    return code === UNSENT || isHttp1Required || (isKept && LOST.test(code));
  }

  #fail(thrown: Error): void {
    if (this.#isOver) return;
    const error = toFetchError(thrown, this.#status);
    const [connection, controller] = [this.#connection, this.#controller];
    // undici still reports this end later, which must then change nothing.
    this.#isOver = true;
    if (controller === undefined) connection?.giveUp();
    else controller.abort(error);
    this.#over(false);
    this.#reject(error);
    this.#body?.fail(error);
  }

  #over(isAnswered: boolean): void {
    const { limits, abortions, onOver } = this.#options;
    this.#isOver = true;
    limits.clock.clearAlarm(this.#late);
    if (limits.signal !== undefined) abortions.delete(limits.signal, this);
    this.#connection?.leave(isAnswered);
    onOver?.();
  }

  readonly #late = (): void => {
    const { timeoutMs } = this.#options.limits;
    if (this.#controller !== undefined && this.#connection?.heardBytes === this.#heardBefore)
      this.#connection.noteSilence();
    const message = `The answer was not complete within ${timeoutMs} ms`;
    this.#fail(new FetchError('timeout', message, this.#status === undefined ? {} : { status: this.#status }));
  };
}
