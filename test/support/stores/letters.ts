import { onTestFinished } from 'vitest';
import { deadLetterOf } from '../../../shared/ports/dead-letter.ts';
import type { GroupOwner } from '../../../shared/ports/frontier/groups.ts';
import type { OutgoingMessage } from '../../../shared/ports/transport.ts';
import { groupOf, JOIN_HOST, joinMark, OF_RUN } from '../../../shared/task/group/group.ts';
import type { FailedReason } from '../../../shared/task/task/outcome.ts';
import type { Task } from '../../../shared/task/task/task.ts';
import { hostOfMark, keyOfMark, markOf, stepOfMark } from '../../../shared/task/url/fingerprint.ts';
import { canonicalOf } from '../../../shared/task/url/url.ts';
import type { RabbitMqTransport } from '../../../shared/transports/rabbitmq/transport.ts';
import { testTransport } from './rabbitmq.ts';

interface LetterExtra {
  readonly run?: string;
  readonly step?: string;
  /** For a member of a group or a join, the owner's mark. If empty, the group has an owner that the letter doesn't name. */
  readonly owner?: string;
  readonly isJoin?: boolean;
  readonly reason?: FailedReason;
  readonly at?: number;
}

/** Builds the letter of a task that failed. */
export function letterOf(
  url: string,
  { run = 'gone', step = '', owner, isJoin = false, reason = 'timeout', at = 1_800_000_000_000 }: LetterExtra = {},
): OutgoingMessage {
  const group = owner === undefined ? undefined : groupOf(owner);
  const mark = isJoin ? joinMark(step, group) : markOf(canonicalOf(url), step, undefined, group);
  const task: Task = {
    ...{ run, url, mark, step, depth: 0, queue: 'normal' },
    host: isJoin ? JOIN_HOST : hostOfMark(url),
    ...(isJoin ? { join: { group: group ?? OF_RUN } } : {}),
  };
  const state = { attempts: 1, starts: 1, throttles: 0, firstSeen: at };
  const attempts = [{ at, worker: 'w-1', reason, error: 'no answer within 30 s' }];
  return deadLetterOf(task, state, {
    ...{ reason, error: 'no answer within 30 s', attempts, at },
    ...(owner ? { owner: ownerWith(run, owner) } : {}),
  });
}

function ownerWith(run: string, mark: string): GroupOwner {
  const url = keyOfMark(mark);
  const step = stepOfMark(mark);
  const task: Task = { run, url, mark, step, host: hostOfMark(mark), depth: 0, queue: 'normal' };
  return { task, claimed: markOf(new URL('/led', url).href, step) };
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
