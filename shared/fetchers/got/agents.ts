import http from 'node:http';
import https from 'node:https';
import type { Socket } from 'node:net';
import { afterPoll } from '../after-poll.ts';
import { AnswerHeads } from '../answer-heads.ts';
import type { Dial } from '../dial.ts';
import { IDLE_MS } from '../fetcher-options.ts';
import type { IdleConnections } from '../idle-connections.ts';
import type { RequestClock } from '../request-clock.ts';

/** Options of every pool: how connections are kept alive. */
const POOL: http.AgentOptions = { keepAlive: true, scheduling: 'lifo', timeout: IDLE_MS };

/** The data about a request that a pool needs to open a new connection for it. */
export interface Dialed extends https.RequestOptions {
  readonly clock: RequestClock;
  /** Calls `gone` when nobody waits for the request any more. */
  readonly onGone: (gone: () => void) => void;
}
type OnConnection = (error: Error | null, socket?: Socket) => void;

/**
 * Makes the request's clock note when the request is written, and lifts the limit on the number of the answer's headers. Node.js drops
 * those after the thousandth, where a `Content-Encoding` may be; their total length is bounded.
 *
 * @param isLenient whether the answer is read as browsers read it
 */
export function notingSent(request: http.ClientRequest, clock: RequestClock, isLenient: boolean): http.ClientRequest {
  request.maxHeadersCount = 0;
  return request.once('socket', (socket) => {
    AnswerHeads.expect(socket, isLenient);
    clock.sent();
  });
}

/**
 * Drops what `options` hold of a request. Node.js keeps them as long as the connection, so the request that the connection was made for,
 * and its answer, would live as long.
 */
function letGo(options: Partial<Dialed>): void {
  Object.assign(options, { clock: undefined, onGone: undefined });
}

/** Makes a pool open its connections by the dials that `dialFor` returns for their requests. */
function dialing<A extends http.Agent, O extends Dialed>(pool: A, dialFor: (options: O) => Dial): A {
  const isSecure = pool instanceof https.Agent;
  pool.createConnection = (given, onConnection) => {
    const options = given as O;
    const { clock, onGone } = options;
    const tell = onConnection as OnConnection;
    let isOver = false;
    const done: OnConnection = (error, socket) => {
      if (isOver) return;
      isOver = true;
      letGo(options);
      tell(error, socket);
    };
    const target = { hostname: options.host ?? '', port: Number(options.port), isSecure };
    const cancel = dialFor(options)(target, clock, done);
    onGone(() => {
      cancel();
      done(new Error('The request was given up'));
    });
    return undefined;
  };
  return pool;
}

/**
 * Lets `idle` count and close a pool's idle connections. To find an expired one, Node.js searches those of all hosts: with 20,000 of them,
 * that took 40 % of the CPU time.
 */
function counting<A extends http.Agent>(pool: A, idle: IdleConnections): A {
  const [keepSocketAlive, reuseSocket] = [pool.keepSocketAlive.bind(pool), pool.reuseSocket.bind(pool)];
  pool.keepSocketAlive = (given) => {
    const socket = given as Socket;
    // Typed `void`, but Node.js uses the result: `false` closes the socket. The call has also set how long the server keeps the connection.
    const isKept = keepSocketAlive(socket) as unknown as boolean;
    if (isKept) {
      idle.keep(socket, socket.timeout);
      socket.setTimeout(0);
    }
    return isKept;
  };
  pool.reuseSocket = (socket, request) => {
    idle.take(socket);
    reuseSocket(socket, request);
  };
  return pool;
}

/** Makes a pool give out a connection only after a look at what has arrived on it. */
function looking<A extends http.Agent>(pool: A): A {
  // Missing from Node.js's types, which list only what is documented: every request calls it to get its connection.
  const known = pool as unknown as { addRequest(...request: readonly unknown[]): void };
  const addRequest = known.addRequest.bind(pool);
  known.addRequest = (...request) => afterPoll(() => addRequest(...request));
  return pool;
}

export function httpPool<O extends Dialed>(idle: IdleConnections, dialFor: (options: O) => Dial): http.Agent {
  return looking(counting(dialing(new http.Agent(POOL), dialFor), idle));
}

export function httpsPool<O extends Dialed>(idle: IdleConnections, dialFor: (options: O) => Dial): https.Agent {
  return looking(counting(dialing(new https.Agent(POOL), dialFor), idle));
}

/** Returns a function that closes these pools: idle connections at once, and each one in use when its request ends. */
export function closerOf(pools: readonly http.Agent[]): () => void {
  let closed = false;
  for (const pool of pools) {
    const keepSocketAlive = pool.keepSocketAlive.bind(pool);
    pool.keepSocketAlive = (socket) => !closed && keepSocketAlive(socket);
  }
  return () => {
    closed = true;
    for (const { freeSockets } of pools) {
      for (const sockets of Object.values(freeSockets)) for (const socket of sockets ?? []) socket.destroy();
    }
  };
}

/**
 * The two connection pools of a fetcher, `http` and `https`. The address guard is part of their dial, so it checks every hop of a redirect,
 * and also IP literals, which never reach a lookup function.
 *
 * A kept-alive connection is not checked again, so a pair of pools keeps the same allow-list for its whole life.
 */
export class DirectAgents {
  readonly http: http.Agent;
  readonly https: https.Agent;
  /** Closes idle connections now, and each one in use when its request ends. */
  readonly close: () => void;

  constructor(dial: Dial, idle: IdleConnections) {
    this.http = httpPool(idle, () => dial);
    this.https = httpsPool(idle, () => dial);
    this.close = closerOf([this.http, this.https]);
  }
}
