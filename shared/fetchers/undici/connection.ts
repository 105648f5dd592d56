import type { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { Client, type Dispatcher } from 'undici';
import type { Dial } from '../dial.ts';
import { IDLE_MS } from '../fetcher-options.ts';
import type { RequestClock } from '../request-clock.ts';

/** Taken off what a server says it keeps an idle connection for, as Node.js does. */
const KEEP_ALIVE_MARGIN_MS = 1_000;

/** Told of what becomes of a connection. */
interface ConnectionEvents {
  /** It can take a request again. */
  free(connection: Connection): void;
  /** It can take none any more. */
  gone(connection: Connection): void;
}

/** Requests that one HTTP/2 connection carries at once; a server may allow fewer. */
const MOST_STREAMS = 100;

/**
 * One connection to one origin: an undici `Client` that connects once. undici would connect anew for requests that wait for a
 * connection which broke; here they fail, and whoever made them decides.
 */
export class Connection {
  readonly #client: Client;
  readonly #events: ConnectionEvents;
  #cancelDial = (): void => {};
  #socket: Socket | undefined;
  #open = 0;
  #served = 0;
  #isGone = false;

  /** @param clock of the request that it is made for */
  constructor(origin: string, dial: Dial, clock: RequestClock, events: ConnectionEvents) {
    this.#events = events;
    this.#client = new Client(origin, {
      connect: (options, callback) => {
        const { hostname, protocol, port } = options;
        const isSecure = protocol === 'https:';
        const schemePort = isSecure ? 443 : 80;
        const target = { hostname, port: port === '' ? schemePort : Number(port), isSecure };
        this.#cancelDial = dial(target, clock, (error, socket) => {
          this.#cancelDial = () => {};
          this.#socket = socket;
          if (socket === undefined) {
            callback(error ?? new Error('no connection'), null);
            return;
          }
          callback(null, socket);
          if (this.isShared && this.isUsable) this.#events.free(this);
        });
      },
      // Ours are exact, and a drip ends with them.
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: IDLE_MS,
      keepAliveMaxTimeout: IDLE_MS,
      keepAliveTimeoutThreshold: KEEP_ALIVE_MARGIN_MS,
      h2Options: { maxConcurrentStreams: MOST_STREAMS, pingInterval: 0 },
    });
    // Of an HTTP/2 server that goes away, too: what is under way then is still answered, on a connection that undici has let go of.
    const gone = (_origin: URL, _targets: readonly Dispatcher[], error: Error): void => this.destroy(error);
    const emitter: EventEmitter = this.#client;
    emitter.on('disconnect', gone).on('connectionError', gone);
    // undici's own assertions come out here: without a listener they would end the process.
    emitter.on('error', (error: Error) => this.destroy(error));
  }

  /** Has it carried an answer before, so that the server may close it at any moment? */
  get isKept(): boolean {
    return this.#served > 0;
  }

  /** Nothing is under way on it. */
  get isIdle(): boolean {
    return this.#open === 0;
  }

  /** It carries several requests at once, and has room for another. */
  get hasRoom(): boolean {
    return this.isShared && this.isUsable && this.#open < MOST_STREAMS;
  }

  get isShared(): boolean {
    return this.#socket !== undefined && 'alpnProtocol' in this.#socket && this.#socket.alpnProtocol === 'h2';
  }

  get isUsable(): boolean {
    return !this.#isGone && this.#socket?.destroyed === false;
  }

  /** What broke a plain connection, if anything did: the server sent what is no HTTP, say. An end in due form is none. */
  get breakage(): Error | undefined {
    const error = this.isShared ? undefined : this.#socket?.errored;
    return error === null || error === undefined || ('code' in error && error.code === 'UND_ERR_INFO')
      ? undefined
      : error;
  }

  /** Sends a request; each has to be followed by a `leave`. */
  send(request: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): void {
    this.#open += 1;
    this.#client.dispatch(request, handler);
  }

  /** A request is over. */
  leave(isAnswered: boolean): void {
    this.#open -= 1;
    if (isAnswered) this.#served += 1;
    if (this.isUsable) this.#events.free(this);
  }

  /** A request that has not been sent is given up: the connection too, unless it carries others. */
  giveUp(): void {
    if (this.#open <= 1) this.destroy();
  }

  destroy(error?: Error): void {
    if (this.#isGone) return;
    this.#isGone = true;
    this.#cancelDial();
    this.#events.gone(this);
    this.#client.destroy(error ?? null, () => {});
  }
}
