import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from 'amqplib';
import type { ClientTls } from '../../runtime/client-tls.ts';
import { CONNECT_TIMEOUT_MS } from '../../runtime/connect-timeout.ts';
import { loginOf } from './login.ts';
import { socketOf } from './recovering-connection.ts';

/** A broker that has said neither yes nor no by then is slow, not blocked. */
const ANSWER_MS = 2_000;

/**
 * Why the broker takes no messages: an alarm of memory or disk. Nothing if it takes them. Only a connection that publishes hears of
 * it, and is blocked then: so this one is its own, and its message is for no queue.
 */
export async function alarmOf(url: string, name: string, tls?: ClientTls): Promise<string | undefined> {
  const timeout = CONNECT_TIMEOUT_MS;
  const model = await connect(url, {
    ...tls?.options,
    timeout,
    clientProperties: { connection_name: name },
    credentials: loginOf(new URL(url)),
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
    // A blocked broker wouldn't read that it is to be closed.
    socketOf(model).destroy();
  }
}
