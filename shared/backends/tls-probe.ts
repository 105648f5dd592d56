import { connect as connectPlainly, isIP, type Socket } from 'node:net';
import { connect } from 'node:tls';
import type { ClientTls } from '../runtime/client-tls.ts';
import { messageOf } from '../runtime/errors.ts';

/** Errors of connections that ended without an explanation. */
const CUT_OFF = /ECONNRESET|EPIPE|connection (?:was|is) closed|closed abruptly|disconnected before secure/i;
const UNANSWERED = /ETIMEDOUT/;
const PROBE_MS = 2_000;
/** Wait after the handshake of TLS 1.3. A server that refuses the client's certificate reports that within a round trip. */
const ALERT_MS = 1_000;
const PORTS: Readonly<Record<string, number>> = { 'amqp:': 5_672, 'amqps:': 5_671, 'redis:': 6_379, 'rediss:': 6_379 };

/** A server's address and the client's TLS files. */
export interface ProbedServer {
  readonly url: string;
  readonly tls: ClientTls;
}

/** The reasons found if one service has the address of the other. */
export const RABBITMQ_ANSWERS = 'RabbitMQ answers there';
export const REDIS_ANSWERS = 'Redis answers there';
/** The reason found at a web server that closes the connection without an answer, as RabbitMQ's own management port (15672) does. */
export const OTHER_ANSWERS = 'a server of another kind answers there';
/** A command of Redis, made up to the eight bytes that RabbitMQ awaits before it answers with its own first eight. */
const FIRST_BYTES = 'PING\r\n\r\n';

/**
 * Finds out why a connection failed if its error doesn't say so: TLS on one side only, a refused certificate, RabbitMQ at the
 * address of Redis and the reverse, or a web server at that of RabbitMQ. Clients that write at once, such as those of Redis and
 * RabbitMQ, can be reset before they have read the server's alert. So this connects again and listens.
 *
 * @returns one of the reasons above, a text that {@link certificateProblem} recognises, or `said` if there is nothing better
 */
export async function probedReason(said: string, { url, tls }: ProbedServer): Promise<string> {
  const { protocol } = new URL(url);
  if (UNANSWERED.test(said)) {
    if (!isRedis(await plainAnswer(url))) return said;
    return protocol === 'rediss:' ? `with it, ${said}` : protocol === 'amqp:' ? REDIS_ANSWERS : said;
  }
  if (!CUT_OFF.test(said)) return said;
  if (protocol === 'rediss:' || protocol === 'amqps:') return (await tlsOutcome(url, tls)).alert ?? said;
  if (protocol === 'redis:' && (await plainAnswer(url)).startsWith('AMQP')) return RABBITMQ_ANSWERS;
  const { isSpoken, alert = '' } = await tlsOutcome(url);
  if (isSpoken || alert.includes('alert')) return `without it, ${said}`;
  return protocol === 'amqp:' && (await plainAnswer(url)).startsWith('HTTP/') ? OTHER_ANSWERS : said;
}

/**
 * Tries a TLS handshake. Returns whether it succeeded, and the error that ended the connection, if any. Without `tls`, doesn't
 * verify the server, as nothing is sent.
 */
async function tlsOutcome(url: string, tls?: ClientTls): Promise<{ isSpoken: boolean; alert?: string | undefined }> {
  const { host, port } = targetOf(url);
  const server = isIP(host) === 0 ? { servername: host } : {};
  const socket = connect({ host, port, ...server, ...tls?.options, rejectUnauthorized: tls !== undefined });
  let isSpoken = false;
  socket.once('secureConnect', () => {
    isSpoken = true;
    socket.setTimeout(ALERT_MS);
  });
  // Unless its data are read, a socket does not report the end of the connection.
  socket.resume();
  return { alert: await endOf(socket), isSpoken };
}

/** Returns the beginning of a server's answer to {@link FIRST_BYTES} without TLS; '' if there is none. */
async function plainAnswer(url: string): Promise<string> {
  const socket = connectPlainly(targetOf(url));
  let answer = '';
  socket.once('data', (data) => {
    answer = String(data);
    socket.destroy();
  });
  socket.write(FIRST_BYTES);
  await endOf(socket);
  return answer;
}

/** Is it an answer of Redis? One that requires a login answers, too. */
function isRedis(answer: string): boolean {
  return /^[+-]/.test(answer);
}

/**
 * Resolves when a connection has ended, or after {@link PROBE_MS} of silence ({@link ALERT_MS} after a TLS handshake), with its error
 * if there was one.
 */
function endOf(socket: Socket): Promise<string | undefined> {
  return new Promise((resolve) => {
    let said: string | undefined;
    socket.once('error', (error) => {
      said = messageOf(error);
    });
    socket.once('close', () => resolve(said));
    socket.setTimeout(PROBE_MS, () => socket.destroy());
  });
}

function targetOf(url: string): { host: string; port: number } {
  const { hostname, port, protocol } = new URL(url);
  return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port) || (PORTS[protocol] ?? 0) };
}
