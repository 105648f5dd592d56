import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Api } from '../parts.ts';
import { Problem } from './problem.ts';

/** Answers that one connection can have under way. Clients wait for one answer at a time, or for a handful. */
const MOST_AT_ONCE = 32;

/** A request whose head was read, and its answer. */
interface Exchange {
  readonly request: IncomingMessage;
  readonly answer: ServerResponse;
}

/** The exchanges of each connection whose answers are not sent yet. */
const underWay = new WeakMap<Socket, Set<Exchange>>();

/** Returns the exchanges of a connection whose answers are not sent yet, oldest first. */
export function answersUnderWay(socket: Socket): readonly Exchange[] {
  return [...(underWay.get(socket) ?? [])];
}

/**
 * Notes the answers under way on each connection, and cuts off a connection with too many: Node reads on however many a client has left
 * unread, and answers them all into memory.
 */
export function noteAnswers(app: Api): void {
  const server: Server = app.server;
  server.prependListener('request', (request, answer) => {
    const { socket } = request;
    const exchanges = underWay.get(socket) ?? new Set();
    if (exchanges.size >= MOST_AT_ONCE) socket.destroy();
    const exchange = { request, answer };
    underWay.set(socket, exchanges.add(exchange));
    answer.once('close', () => exchanges.delete(exchange));
  });
  app.addHook('onRequest', async ({ raw }) => {
    if (raw.socket.destroyed) throw new Problem('too_many_requests', `${MOST_AT_ONCE} answers are under way already`);
  });
}
