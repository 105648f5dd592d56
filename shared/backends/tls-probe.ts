import { connect as connectPlainly, isIP, type Socket } from 'node:net';
import { connect } from 'node:tls';
import type { ClientTls } from '../runtime/client-tls.ts';
import { messageOf } from '../runtime/errors.ts';

/** A connection that ended without a word. */
const CUT_OFF = /ECONNRESET|EPIPE|connection (?:was|is) closed|closed abruptly|disconnected before secure/i;
const UNANSWERED = /ETIMEDOUT/;
const PROBE_MS = 2_000;
/** After the handshake of TLS 1.3: a server that refuses the client's certificate says so within a round trip. */
const ALERT_MS = 1_000;
const PORTS: Readonly<Record<string, number>> = { 'amqp:': 5_672, 'amqps:': 5_671, 'redis:': 6_379, 'rediss:': 6_379 };

/** How a connection to a server is made. */
export interface ProbedServer {
  readonly url: string;
  readonly tls: ClientTls;
}

/**
 * Why a connection failed, where its end doesn't say it: TLS on one side only, or a certificate that is refused. A client that writes
 * at once, as those of Redis and RabbitMQ do, may be reset before it has read that, so it is asked for here without a word more.
 *
 * @returns what was said, if there is nothing better; or what {@link certificateProblem} knows
 */
export async function probedReason(said: string, { url, tls }: ProbedServer): Promise<string> {
  const { protocol } = new URL(url);
  if (protocol === 'rediss:' && UNANSWERED.test(said)) return (await answersPlainly(url)) ? `with it, ${said}` : said;
  if (!CUT_OFF.test(said)) return said;
  if (protocol === 'rediss:' || protocol === 'amqps:') return (await tlsOutcome(url, tls)).alert ?? said;
  const { isSpoken, alert = '' } = await tlsOutcome(url);
  return isSpoken || alert.includes('alert') ? `without it, ${said}` : said;
}

/** Does TLS begin, and what does the server say then? Without certificates, it isn't looked who that is: nothing is sent. */
async function tlsOutcome(url: string, tls?: ClientTls): Promise<{ isSpoken: boolean; alert?: string | undefined }> {
  const { host, port } = targetOf(url);
  const server = isIP(host) === 0 ? { servername: host } : {};
  const socket = connect({ host, port, ...server, ...tls?.options, rejectUnauthorized: tls !== undefined });
  let isSpoken = false;
  socket.once('secureConnect', () => {
    isSpoken = true;
    socket.setTimeout(ALERT_MS);
  });
  // What nobody reads brings no end of the connection, either.
  socket.resume();
  return { alert: await endOf(socket), isSpoken };
}

/** Does a Redis answer what is no TLS? Also one that wants a login first does. */
async function answersPlainly(url: string): Promise<boolean> {
  const socket = connectPlainly(targetOf(url));
  let isAnswered = false;
  socket.once('data', (data) => {
    isAnswered = /^[+-]/.test(String(data));
    socket.destroy();
  });
  socket.write('PING\r\n');
  await endOf(socket);
  return isAnswered;
}

/** Resolves with the error that a connection ended with, if it did, or after a while. */
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
