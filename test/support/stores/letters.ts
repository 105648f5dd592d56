import { onTestFinished } from 'vitest';
import { deadLetterOf } from '../../../shared/ports/dead-letter.ts';
import type { OutgoingMessage } from '../../../shared/ports/transport.ts';
import type { FailedReason } from '../../../shared/task/task/outcome.ts';
import { markOf } from '../../../shared/task/url/fingerprint.ts';
import { canonicalOf } from '../../../shared/task/url/url.ts';
import type { RabbitMqTransport } from '../../../shared/transports/rabbitmq/transport.ts';
import { testTransport } from './rabbitmq.ts';

interface LetterExtra {
  readonly run?: string;
  readonly reason?: FailedReason;
  readonly at?: number;
}

/** The letter of a task that failed. */
export function letterOf(
  url: string,
  { run = 'gone', reason = 'timeout', at = 1_800_000_000_000 }: LetterExtra = {},
): OutgoingMessage {
  const task = {
    run,
    url,
    host: new URL(url).host,
    mark: markOf(canonicalOf(url)),
    step: '',
    depth: 0,
    queue: 'normal',
  } as const;
  const state = { attempts: 1, starts: 1, throttles: 0, firstSeen: at };
  const attempts = [{ at, worker: 'w-1', reason, error: 'no answer within 30 s' }];
  return deadLetterOf(task, state, { reason, error: 'no answer within 30 s', attempts, at });
}

/** Puts letters into a fleet's queue. */
export async function publishLetters(
  url: string,
  prefix: string,
  letters: readonly OutgoingMessage[],
): Promise<RabbitMqTransport> {
  const transport = testTransport(url, prefix);
  await transport.start();
  onTestFinished(() => transport.stop());
  await transport.publish(letters);
  return transport;
}
