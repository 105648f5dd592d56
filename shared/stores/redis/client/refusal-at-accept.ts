import { connect } from 'node:net';
import type { RedisOptions } from 'ioredis';
import { temporaryRefusal } from './temporary-refusals.ts';

/** Errors of a connection that the server has closed, perhaps after an explanation. */
const CUT_OFF = /EPIPE|ECONNRESET/;
/** Longest wait for the explanation. A server that accepts the connection says nothing. */
const LISTEN_MS = 500;

/**
 * Finds out why a server closes new connections, if `reason` doesn't say so. A client that writes at once can be reset before it has read
 * the server's explanation. So this connects again, and only listens. Never rejects.
 *
 * @returns `undefined` if the server explains nothing, as over TLS
 */
export async function refusalAtAccept(reason: string, options: RedisOptions): Promise<string | undefined> {
  const { host = 'localhost', port = 0, path, tls } = options;
  if (!CUT_OFF.test(reason) || tls !== undefined) return undefined;
  const socket = path === undefined || path === null ? connect({ host, port }) : connect(path);
  socket.setTimeout(LISTEN_MS, () => socket.destroy());
  socket.setEncoding('utf8');
  let said = '';
  try {
    for await (const text of socket) said += text;
  } catch {
    // What it said before that counts.
  }
  return temporaryRefusal(new Error(said.replace(/^-/, '').trimEnd()));
}
