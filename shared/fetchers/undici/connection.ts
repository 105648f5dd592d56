import type { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { Client, type Dispatcher } from 'undici';
import { codeOf } from '../../runtime/errors.ts';
import { afterPoll } from '../after-poll.ts';
import { AnswerHeads } from '../answer-heads.ts';
import type { Dial } from '../dial.ts';
import { IDLE_MS, MOST_HEADER_BYTES } from '../fetcher-options.ts';
import { FloodWatch, mostOnTheWire } from '../flood-watch.ts';
import type { RequestClock } from '../request-clock.ts';
import { correctHttp1Answers } from './http1-answers.ts';
import { allowingManyHeaders, correctHttp2Answers } from './http2-answers.ts';
import { readLeniently } from './lenient-parser.ts';

/** Margin subtracted from the server's announced keep-alive time, as in Node.js. */
const KEEP_ALIVE_MARGIN_MS = 1_000;

/** Events of a connection. */
interface ConnectionEvents {
  /** Called when it can take a request again. */
  free(connection: Connection): void;
  /** Called when it can't take requests any more. */
  gone(connection: Connection): void;
  /** Called when its server has chosen a protocol. */
  speaks(isHttp2: boolean): void;
  /** Called when its server has refused HTTP/2. */
  http1Required(): void;
}

/** How a connection is made and read. */
interface ConnectionOptions {
  /** Whether answers are read as browsers read them. */
  readonly isLenient: boolean;
  /** Whether HTTP/2 isn't offered. */
  readonly isHttp1Only: boolean;
}

/** Error code of requests that waited for one connection to carry them all, whose server doesn't speak HTTP/2 any more. */
export const NOT_SHARED = 'ERR_NOT_SHARED';

/** Requests that one HTTP/2 connection carries at once; a server may allow fewer. */
const MOST_STREAMS = 100;

/**
 * One connection to one origin: an undici `Client` that connects once. If a connection breaks, undici would make a new one for the requests
 * that wait for it; here they fail, and their callers decide.
 */
export class Connection {
  readonly #client: Client;
  readonly #events: ConnectionEvents;
  readonly #isLenient: boolean;
  #madeFor: RequestClock | undefined;
  #cancelDial = (): void => {};
  #socket: Socket | undefined;
  #floodWatch: FloodWatch | undefined;
  #sent = 0;
  #bodyBytes = 0;
  #open = 0;
  #served = 0;
  #isGone = false;
  #starting: Dispatcher.DispatchController | undefined;
  #surplus: Error | undefined;
  #isHttp1Required = false;
  #isRetired = false;

  /** @param clock the clock of the request that the connection is made for */
  constructor(origin: string, dial: Dial, clock: RequestClock, events: ConnectionEvents, options: ConnectionOptions) {
    const { isLenient, isHttp1Only } = options;
    this.#events = events;
    this.#isLenient = isLenient;
    this.#madeFor = clock;
    this.#client = new Client(origin, {
      connect: (asked, callback) => {
        const madeFor = this.#madeFor;
        if (madeFor === undefined) {
          callback(new Error('it connects once'), null);
          return;
        }
        // Released, or it would be held as long as the connection lives.
        this.#madeFor = undefined;
        const { hostname, protocol, port } = asked;
        const isSecure = protocol === 'https:';
        const schemePort = isSecure ? 443 : 80;
        const target = { hostname, port: port === '' ? schemePort : Number(port), isSecure, isHttp1Only };
        this.#cancelDial = dial(target, madeFor, (error, socket) => {
          this.#cancelDial = () => {};
          this.#socket = socket;
          if (socket === undefined) {
            callback(error ?? new Error('no connection'), null);
            return;
          }
          this.#events.speaks(this.isShared);
          if (this.isShared) allowingManyHeaders(() => callback(null, socket));
          else if (this.#open <= 1) callback(null, socket);
          else {
            // Each of its requests would have to wait for those before it.
            socket.destroy();
            callback(Object.assign(new Error('The server does not speak HTTP/2 any more'), { code: NOT_SHARED }), null);
          }
          if (this.isShared && this.isUsable) this.#events.free(this);
        });
      },
      maxHeaderSize: MOST_HEADER_BYTES,
      // The exchange has exact time limits of its own, which also end an answer that trickles in.
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: IDLE_MS,
      keepAliveMaxTimeout: IDLE_MS,
      keepAliveTimeoutThreshold: KEEP_ALIVE_MARGIN_MS,
      h2Options: { maxConcurrentStreams: MOST_STREAMS, pingInterval: 0 },
    });
    // Also called when an HTTP/2 server goes away. Requests in progress are still answered, though undici has abandoned the connection.
    const gone = (_origin: URL, _targets: readonly Dispatcher[], error: Error): void => this.destroy(error);
    const emitter: EventEmitter = this.#client;
    emitter.once('connect', () => {
      if (this.#socket === undefined) return;
      this.#floodWatch = new FloodWatch(
        this.#socket,
        () => mostOnTheWire(this.#sent, this.#bodyBytes),
        (error) => this.destroy(error),
      );
      // The end of the connection follows, and undici would report only that: a server may refuse a client when its handshake is over.
      this.#socket.on('error', (error) => {
        if (codeOf(error)?.startsWith('ERR_SSL_')) this.destroy(error);
      });
      if (this.isShared) correctHttp2Answers(this.#socket, this);
      else {
        correctHttp1Answers(this.#socket, () => {
          this.#surplus = new Error('The server sent more than the answer');
        });
        if (isLenient) readLeniently(this.#socket);
      }
      this.#expectAnswer();
    });
    emitter.on('disconnect', gone).on('connectionError', gone);
    // undici reports its failed assertions here; without a listener they would end the process.
    emitter.on('error', (error: Error) => this.destroy(error));
  }

  /** Whether it has carried an answer before, so that the server might close it at any moment. */
  get isKept(): boolean {
    return this.#served > 0;
  }

  /** Whether no request is in progress on it. */
  get isIdle(): boolean {
    return this.#open === 0;
  }

  /** Whether it carries several requests at once and has room for another. */
  get hasRoom(): boolean {
    return this.isShared && this.isUsable && this.#open < MOST_STREAMS;
  }

  /** Whether it is still being made, and will have room for another request if its server speaks HTTP/2. */
  get mayGetRoom(): boolean {
    return this.#socket === undefined && !this.#isGone && this.#open < MOST_STREAMS;
  }

  get isShared(): boolean {
    return this.#socket !== undefined && 'alpnProtocol' in this.#socket && this.#socket.alpnProtocol === 'h2';
  }

  get isGone(): boolean {
    return this.#isGone;
  }

  /** Whether its server has refused HTTP/2 (RFC 9113 section 7). Requests sent over it were then not processed. */
  get isHttp1Required(): boolean {
    return this.#isHttp1Required;
  }

  requireHttp1(): void {
    this.#isHttp1Required = true;
    this.#events.http1Required();
  }

  get isUsable(): boolean {
    return !this.#isGone && !this.#isRetired && this.#socket?.destroyed === false;
  }

  /** The error that broke a plain connection, such as an answer that is not HTTP. Nothing after a proper end. */
  get breakage(): Error | undefined {
    if (this.#surplus !== undefined) return this.#surplus;
    const error = this.isShared ? undefined : this.#socket?.errored;
    return error === null || error === undefined || ('code' in error && error.code === 'UND_ERR_INFO')
      ? undefined
      : error;
  }

  /**
   * Sends a request. Call {@link leave} when it is over. If a kept connection turns out to be closed, or to hold bytes that nobody asked for,
   * the request is not sent and counts as lost.
   */
  send(request: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): void {
    this.#open += 1;
    this.#sent += 1;
    const dispatch = (): void => {
      this.#expectAnswer();
      this.#client.dispatch(request, handler);
    };
    if (this.isKept && !this.isShared) afterPoll(dispatch);
    else dispatch();
  }

  /** Notes that a request begins. On a shared connection, undici opens its stream next. */
  begin(controller: Dispatcher.DispatchController): void {
    if (this.isShared) this.#starting = controller;
  }

  /** Takes the request for which a stream is being opened, and releases it. */
  takeStarting(): Dispatcher.DispatchController | undefined {
    const starting = this.#starting;
    this.#starting = undefined;
    return starting;
  }

  #expectAnswer(): void {
    if (this.#socket !== undefined && !this.isShared) AnswerHeads.expect(this.#socket, this.#isLenient);
  }

  /** Bytes received so far. */
  get heardBytes(): number {
    return this.#socket?.bytesRead ?? 0;
  }

  /**
   * Notes that nothing was received for as long as a request may take. The server might be gone without notice, as when a router has
   * forgotten the connection.
   */
  noteSilence(): void {
    if (this.isShared) this.retire();
  }

  /** Stops it from getting further requests. It closes with its last one, which can still be answered. */
  retire(): void {
    this.#isRetired = true;
  }

  /** Notes a piece of the body of an answer. */
  noteBody(bytes: number): void {
    this.#bodyBytes += bytes;
  }

  /** Notes that a request is over. */
  leave(isAnswered: boolean): void {
    this.#open -= 1;
    this.#starting = undefined;
    if (isAnswered) this.#served += 1;
    if (this.isUsable) this.#events.free(this);
    else if (this.#isRetired && this.isIdle) this.destroy();
  }

  /** Gives up a request that has not been sent, and also the connection unless it carries others. */
  giveUp(): void {
    if (this.#open <= 1) this.destroy();
  }

  destroy(error?: Error): void {
    if (this.#isGone) return;
    this.#isGone = true;
    this.#floodWatch?.stop();
    this.#cancelDial();
    this.#events.gone(this);
    this.#client.destroy(error ?? null, () => {});
  }
}
