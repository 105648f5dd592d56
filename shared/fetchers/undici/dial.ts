import type { LookupAddress } from 'node:dns';
import net, { isIP, type Socket } from 'node:net';
import tls from 'node:tls';
import type { AddressGuard } from '../address-guard.ts';

/** Where a connection leads. */
export interface DialTarget {
  /** Without brackets. */
  readonly hostname: string;
  readonly port: number;
  readonly isSecure: boolean;
}

/** Called once, with a connection that is ready for HTTP, TLS handshake included, or with an error. */
export type OnDialed = (error: Error | null, socket?: Socket) => void;

/** Makes a connection. @returns a function that cancels it */
export type Dial = (target: DialTarget, onDialed: OnDialed) => () => void;

/** TLS sessions by server, so that later connections have a shorter handshake. */
export interface TlsSessions {
  get(key: string): Buffer | undefined;
  set(key: string, session: Buffer): unknown;
}

interface DirectDialOptions {
  readonly guard: AddressGuard;
  readonly sessions: TlsSessions;
  /** Time limit of each phase: look-up, connection, handshake. */
  readonly phaseMs: number;
}

/** Bytes per read. */
const READ_BYTES = 65_536;

/**
 * Connects to hosts directly. The address guard checks each connection, to literals and names alike. A name is looked up once,
 * and only the addresses that were checked are connected to.
 */
export function directDial({ guard, sessions, phaseMs }: DirectDialOptions): Dial {
  return (target, onDialed) => {
    const attempt = new Attempt(target, phaseMs, onDialed);
    guard.addressesOf(target.hostname).then(
      (addresses) => attempt.connect(addresses, sessions),
      (error: Error) => attempt.fail(error),
    );
    return () => attempt.cancel();
  };
}

/** One connection being made: look-up → TCP → TLS. Each phase has the same time limit. */
class Attempt {
  readonly #target: DialTarget;
  readonly #phaseMs: number;
  readonly #onDialed: OnDialed;
  readonly #timer: NodeJS.Timeout;
  #phase = 'look-up';
  #socket: Socket | undefined;
  #isOver = false;

  constructor(target: DialTarget, phaseMs: number, onDialed: OnDialed) {
    this.#target = target;
    this.#phaseMs = phaseMs;
    this.#onDialed = onDialed;
    this.#timer = setTimeout(() => this.#late(), phaseMs);
  }

  connect(addresses: readonly LookupAddress[], sessions: TlsSessions): void {
    if (this.#isOver) return;
    const { hostname: host, port, isSecure } = this.#target;
    this.#enter('connection');
    const lookup: net.LookupFunction = (_, { all }, callback) => {
      const [first] = addresses;
      if (all || first === undefined) callback(null, [...addresses]);
      else callback(null, first.address, first.family);
    };
    const options: net.NetConnectOpts & { highWaterMark: number } = {
      host,
      port,
      lookup,
      noDelay: true,
      highWaterMark: READ_BYTES,
    };
    const socket = net.connect(options);
    this.#socket = socket;
    socket.on('error', (error) => this.fail(error));
    socket.once('connect', () => {
      if (!isSecure) {
        this.#succeed(socket);
        return;
      }
      this.#enter('handshake');
      this.#socket = secured(socket, this.#target, sessions, (error, secure) => {
        if (error !== null || secure === undefined) this.fail(error ?? new Error('no connection'));
        else this.#succeed(secure);
      });
    });
  }

  /** Gives up: nobody waits for the connection any more. */
  cancel(): void {
    this.#end();
    this.#socket?.destroy();
  }

  fail(error: Error): void {
    if (this.#isOver) return;
    this.cancel();
    this.#onDialed(error);
  }

  #succeed(socket: Socket): void {
    if (this.#isOver) return;
    this.#end();
    this.#onDialed(null, socket);
  }

  #end(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
  }

  #enter(phase: string): void {
    this.#phase = phase;
    this.#timer.refresh();
  }

  #late(): void {
    const { hostname } = this.#target;
    const message = `The ${this.#phase} took longer than ${this.#phaseMs} ms: ${hostname}`;
    this.fail(Object.assign(new Error(message), { code: 'ETIMEDOUT' }));
  }
}

/** Starts TLS on a connection, with HTTP/2 if the server supports it. */
export function secured(
  socket: Socket,
  { hostname: host, port }: DialTarget,
  sessions: TlsSessions,
  onDialed: OnDialed,
): Socket {
  const key = `${host}:${port}`;
  const session = sessions.get(key);
  const secure = tls.connect({
    ...{ socket, host, servername: isIP(host) === 0 ? host : '', ALPNProtocols: ['h2', 'http/1.1'] },
    ...(session === undefined ? {} : { session }),
  });
  secure.on('session', (fresh) => sessions.set(key, fresh));
  // This listener stays: while the socket passes from one owner to the next, an unheard error would end the process.
  secure.on('error', (error) => onDialed(error));
  secure.once('secureConnect', () => onDialed(null, secure));
  return secure;
}
