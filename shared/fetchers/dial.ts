import type { LookupAddress } from 'node:dns';
import net, { isIP, type Socket } from 'node:net';
import tls from 'node:tls';
import { LRUCache } from 'lru-cache';
import type { AddressGuard } from './address-guard.ts';
import type { ConnectTurns, Turn } from './connect-turns.ts';
import type { RequestClock } from './request-clock.ts';

/** Where a connection is to lead. */
export interface DialTarget {
  /** Without brackets. */
  readonly hostname: string;
  readonly port: number;
  readonly isSecure: boolean;
}

/** Told once: of a connection that is ready for HTTP, its handshake included, or of what went wrong. */
export type OnDialed = (error: Error | null, socket?: Socket) => void;

/** Makes a connection for the request that has this clock. @returns what gives it up, if it is not made yet: nobody is told then */
export type Dial = (target: DialTarget, clock: RequestClock, onDialed: OnDialed) => () => void;

/** TLS sessions by server, so that a second connection has a shorter handshake. */
export interface TlsSessions {
  get(key: string): Buffer | undefined;
  set(key: string, session: Buffer): unknown;
}

/** Sessions that are kept: 2 to 5 KB each. */
const MOST_SESSIONS = 500;

export function newSessions(): TlsSessions {
  return new LRUCache<string, Buffer>({ max: MOST_SESSIONS });
}

/** How TLS is spoken. */
export interface TlsOptions {
  readonly sessions: TlsSessions;
  /** What this side can speak over it, the best first. */
  readonly protocols: readonly ('h2' | 'http/1.1')[];
}

interface DirectDialOptions {
  readonly guard: AddressGuard;
  readonly turns: ConnectTurns;
  readonly tls: TlsOptions;
  /** For the look-up, the connection and the handshake, each. */
  readonly phaseMs: number;
}

/** Bytes read at once. */
const READ_BYTES = 65_536;

/**
 * Connects to hosts themselves. The address guard judges each connection, a literal and a name alike; a name is looked up once,
 * and exactly the addresses that were judged are connected to.
 */
export function directDial(options: DirectDialOptions): Dial {
  return (target, clock, onDialed) => {
    const attempt = new Attempt(target, clock, options, onDialed);
    options.guard.addressesOf(target.hostname).then(
      (addresses) => attempt.connect(addresses),
      (error: Error) => attempt.fail(error),
    );
    return () => attempt.cancel();
  };
}

/** One connection in the making: look-up → its turn → TCP → TLS. Each phase has the same time; the wait for the turn is none. */
class Attempt {
  readonly #target: DialTarget;
  readonly #clock: RequestClock;
  readonly #options: DirectDialOptions;
  readonly #onDialed: OnDialed;
  #timer: NodeJS.Timeout | undefined;
  #turn: Turn | undefined;
  #socket: Socket | undefined;
  #isOver = false;

  constructor(target: DialTarget, clock: RequestClock, options: DirectDialOptions, onDialed: OnDialed) {
    this.#target = target;
    this.#clock = clock;
    this.#options = options;
    this.#onDialed = onDialed;
    this.#enter('look-up');
  }

  /** Connects to one of these addresses, when it is its turn. */
  connect(addresses: readonly LookupAddress[]): void {
    if (this.#isOver) return;
    clearTimeout(this.#timer);
    this.#turn = this.#options.turns.take(this.#clock, () => this.#connect(addresses));
  }

  /** Nobody waits for it any more. */
  cancel(): void {
    if (this.#isOver) return;
    this.#end();
    this.#socket?.destroy();
  }

  fail(error: Error): void {
    if (this.#isOver) return;
    this.cancel();
    this.#onDialed(error);
  }

  #connect(addresses: readonly LookupAddress[]): void {
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
    // For good: between two owners, nobody else would hear of it.
    socket.on('error', (error) => this.fail(error));
    socket.once('connect', () => {
      if (!isSecure) {
        this.#succeed(socket);
        return;
      }
      this.#enter('handshake');
      this.#socket = secured(socket, this.#target, this.#options.tls, (error, secure) => {
        if (error !== null || secure === undefined) this.fail(error ?? new Error('no connection'));
        else this.#succeed(secure);
      });
    });
  }

  #succeed(socket: Socket): void {
    if (this.#isOver) return;
    this.#end();
    this.#onDialed(null, socket);
  }

  #end(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#turn?.end();
  }

  #enter(phase: string): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#late(phase), this.#options.phaseMs);
  }

  #late(phase: string): void {
    const message = `The ${phase} took longer than ${this.#options.phaseMs} ms: ${this.#target.hostname}`;
    this.fail(Object.assign(new Error(message), { code: 'ETIMEDOUT' }));
  }
}

/** TLS over a connection. */
export function secured(
  socket: Socket,
  { hostname: host, port }: DialTarget,
  { sessions, protocols }: TlsOptions,
  onDialed: OnDialed,
): Socket {
  const key = `${host}:${port}`;
  const session = sessions.get(key);
  const secure = tls.connect({
    ...{ socket, host, servername: isIP(host) === 0 ? host : '', ALPNProtocols: [...protocols] },
    ...(session === undefined ? {} : { session }),
  });
  secure.on('session', (fresh) => sessions.set(key, fresh));
  // For good: between two owners, nobody else would hear of it.
  secure.on('error', (error) => onDialed(error));
  secure.once('secureConnect', () => onDialed(null, secure));
  return secure;
}
