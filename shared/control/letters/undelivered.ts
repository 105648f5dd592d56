import type { DeadLetter } from '../../ports/dead-letter.ts';
import type { ReleaseName } from '../../ports/frontier/frontier.ts';
import type { DeadLetterMessage } from '../../ports/transport.ts';
import { writtenTask, writtenTaskSchema } from '../../task/task/form.ts';
import { readMessage } from '../../task/task/message.ts';

/** A task message that the broker itself moved to the dead letters, read as if it were a dead letter. */
export interface Undelivered {
  readonly letter: DeadLetter;
  /** The task's release: still current, or stale if the task came back when its lease lapsed. */
  readonly release: ReleaseName;
}

/** The broker's reasons for moving a message, in words. */
const WHY: Readonly<Record<string, string>> = {
  expired: 'it waited there too long (message-ttl)',
  maxlen: 'there were too many (max-length)',
};

/** Reads a message as undelivered; undefined if the broker didn't move it, or if it isn't a task of a run. */
export function readUndelivered({ body, headers, moved }: DeadLetterMessage): Undelivered | undefined {
  const number = headers['x-release'];
  if (moved === undefined || number === undefined) return undefined;
  const message = readMessage(body);
  if (message.kind !== 'task' || message.task.run === undefined) return undefined;
  const { run, mark } = message.task;
  const { at, from, why } = moved;
  const firstSeen = headers['x-first-seen'] ?? at ?? 0;
  const letter = {
    ...writtenTaskSchema.parse(writtenTask({ ...message.task, run })),
    run,
    reason: 'undelivered',
    error: `a policy of RabbitMQ took it out of ${from}: ${WHY[why] ?? why}`,
    attempts: [],
    firstSeen: new Date(firstSeen).toISOString(),
    failedAt: new Date(at ?? firstSeen).toISOString(),
  } as const;
  return { letter, release: { release: number, mark } };
}
