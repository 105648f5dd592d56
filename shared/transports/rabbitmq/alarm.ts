import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from 'amqplib';
import type { ClientTls } from '../../runtime/client-tls.ts';
import { CONNECT_TIMEOUT_MS } from '../../runtime/connect-timeout.ts';
import { UnavailableError } from '../../runtime/errors.ts';
import { loginOf } from './login.ts';
import { reasonOf, socketOf } from './recovering-connection.ts';

/** Longest wait for an answer. A broker that has neither confirmed nor blocked by then is slow, not blocked. */
const ANSWER_MS = 2_000;

/**
 * Returns the memory or disk alarm because of which the broker accepts no messages; `undefined` if it accepts them. The broker
 * reports an alarm only to connections that publish, and blocks them. So this opens a separate connection, and publishes a
 * message that no queue receives.
 *
 * @throws UnavailableError if there can be no other connection
 */
export async function alarmOf(url: string, name: string, tls?: ClientTls): Promise<string | undefined> {
  const timeout = CONNECT_TIMEOUT_MS;
  const model = await connect(url, {
    ...tls?.options,
    timeout,
    clientProperties: { connection_name: name },
    credentials: loginOf(new URL(url)),
  }).catch((error: unknown) => {
    throw new UnavailableError(`no second connection, and a worker needs two: ${reasonOf(error)}`, { cause: error });
  });
  const answer = Promise.withResolvers<string | undefined>();
  model.on('error', () => {});
  model.on('close', () => answer.resolve(undefined));
  model.on('blocked', (reason: string) => answer.resolve(reason));
  const waited = new AbortController();
  try {
    const channel = await model.createConfirmChannel();
    channel.on('error', () => {});
    channel.publish('', randomUUID(), Buffer.alloc(0), {}, () => answer.resolve(undefined));
    return await Promise.race([answer.promise, sleep(ANSWER_MS, undefined, { signal: waited.signal })]);
  } finally {
    waited.abort();
    // A blocked broker would not read a request to close.
    socketOf(model).destroy();
  }
}
