import type { LookupAddress } from 'node:dns';
import net, { isIP, type Socket } from 'node:net';
import tls from 'node:tls';
import { LRUCache } from 'lru-cache';
import type { AddressGuard } from './address-guard.ts';
import type { ConnectTurns, Turn } from './connect-turns.ts';
import type { RequestClock } from './request-clock.ts';
import { type Certificates, withRemedy } from './trust.ts';

/** Where a connection leads. */
export interface DialTarget {
  /** Without brackets. */
  readonly hostname: string;
  readonly port: number;
  readonly isSecure: boolean;
  /** Whether its server has refused HTTP/2. */
  readonly isHttp1Only?: boolean;
}

/** Called once, with a connection that is ready for HTTP, TLS handshake included, or with an error. */
export type OnDialed = (error: Error | null, socket?: Socket) => void;

/**
 * Makes a connection for the request that `clock` measures.
 *
 * @returns a function that cancels it while it is being made; `onDialed` is then not called
 */
export type Dial = (target: DialTarget, clock: RequestClock, onDialed: OnDialed) => () => void;

/** TLS sessions by server, which shorten the handshake of later connections. */
export interface TlsSessions {
  get(key: string): Buffer | undefined;
  set(key: string, session: Buffer): unknown;
}

/** TLS sessions kept at once: 2 to 5 KB each. */
const MOST_SESSIONS = 500;

export function newSessions(): TlsSessions {
  return new LRUCache<string, Buffer>({ max: MOST_SESSIONS });
}

/** Settings for starting TLS on a connection. */
export interface TlsOptions {
  readonly sessions: TlsSessions;
  /** Protocols this side can use over TLS, the preferred one first. */
  readonly protocols: readonly ('h2' | 'http/1.1')[];
  readonly certificates: Certificates;
}

interface DirectDialOptions {
  readonly guard: AddressGuard;
  readonly turns: ConnectTurns;
  readonly tls: TlsOptions;
  /** Time limit of the look-up. */
  readonly lookupMs: number;
  /** Time limit of each other phase: connection, handshake. */
  readonly phaseMs: number;
}

/** Bytes per read. */
const READ_BYTES = 65_536;

/**
 * Returns a dial that connects to hosts directly. The address guard checks each connection, to IP literals and names alike. A name is
 * looked up once, and only the addresses that were checked are connected to.
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

/** One connection being made: look-up → its turn → TCP → TLS. Each phase has a time limit; the wait for the turn has none. */
class Attempt {
  readonly #target: DialTarget;
  readonly #clock: RequestClock;
  readonly #options: DirectDialOptions;
  readonly #onDialed: OnDialed;
  #timer: NodeJS.Timeout | undefined;
  #turn: Turn | undefined;
  #socket: Socket | undefined;
  #stopHearing: (() => void) | undefined;
  #isOver = false;

  constructor(target: DialTarget, clock: RequestClock, options: DirectDialOptions, onDialed: OnDialed) {
    this.#target = target;
    this.#clock = clock;
    this.#options = options;
    this.#onDialed = onDialed;
    this.#enter('look-up', options.lookupMs);
  }

  /** Connects to one of these addresses when its turn comes. */
  connect(addresses: readonly LookupAddress[]): void {
    if (this.#isOver) return;
    clearTimeout(this.#timer);
    this.#turn = this.#options.turns.take(this.#clock, () => this.#connect(addresses));
  }

  /** Gives up, since nobody waits for the connection any more. */
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
    this.#stopHearing = hearErrors(socket, (error) => this.fail(error));
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
    this.#stopHearing?.();
    this.#onDialed(null, socket);
  }

  #end(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#turn?.end();
  }

  #enter(phase: string, limitMs = this.#options.phaseMs): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#late(phase, limitMs), limitMs);
  }

  #late(phase: string, limitMs: number): void {
    const message = `The ${phase} took longer than ${limitMs} ms: ${this.#target.hostname}`;
    this.fail(Object.assign(new Error(message), { code: 'ETIMEDOUT' }));
  }
}

/** Starts TLS on a connection. */
export function secured(
  socket: Socket,
  { hostname: host, port, isHttp1Only = false }: DialTarget,
  { sessions, protocols, certificates }: TlsOptions,
  onDialed: OnDialed,
): Socket {
  const key = `${host}:${port}`;
  const session = sessions.get(key);
  const secure = tls.connect({
    ...{ socket, host, servername: serverNameOf(host), ALPNProtocols: isHttp1Only ? ['http/1.1'] : [...protocols] },
    ...(session === undefined ? {} : { session }),
    ...certificates.optionsFor(host),
  });
  keepSessions(secure, sessions, key);
  const stopHearing = hearErrors(secure, (error) => onDialed(withRemedy(error, host)));
  secure.once('secureConnect', () => {
    stopHearing();
    onDialed(null, secure);
  });
  return secure;
}

/** Returns the host as the handshake names it: nothing for an address, and no trailing dot (RFC 6066 section 3), since some servers refuse it. */
function serverNameOf(host: string): string {
  return isIP(host) === 0 ? host.replace(/\.$/, '') : '';
}

/** Keeps the sessions of a connection. A function of its own, so that the listener holds on to nothing else while the connection lives. */
function keepSessions(secure: tls.TLSSocket, sessions: TlsOptions['sessions'], key: string): void {
  secure.on('session', (fresh) => sessions.set(key, fresh));
}

/**
 * Listens for errors of a connection until the returned function is called, and ignores them from then on. While a socket passes from one
 * owner to the next, an unhandled error would end the process, and a listener that knows the request would keep it in memory as long as the
 * connection lives.
 */
function hearErrors(socket: Socket, onError: (error: Error) => void): () => void {
  socket.on('error', onError);
  return () => {
    socket.on('error', ignore);
    socket.off('error', onError);
  };
}

function ignore(): void {}
