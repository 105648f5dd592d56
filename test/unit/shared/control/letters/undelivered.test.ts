import { expect, test } from 'vitest';
import { readLetter } from '../../../../../shared/control/letters/letter-filter.ts';
import { letterJson } from '../../../../../shared/control/letters/letter-json.ts';
import type { DeadLetterMessage } from '../../../../../shared/ports/transport.ts';
import { writeMessage } from '../../../../../shared/task/task/message.ts';
import { idOf, type Task } from '../../../../../shared/task/task/task.ts';

const URL = 'https://a.test/1';
const TASK: Task = { run: 'r', url: URL, host: 'a.test', mark: URL, step: '', queue: 'normal', depth: 2 };
const MOVED = { from: 'url_queue_ttl', why: 'expired', at: 1_795_000_002_000 };

function messageOf(extra: Partial<DeadLetterMessage> = {}): DeadLetterMessage {
  const headers = { 'x-release': 7, 'x-first-seen': 1_795_000_000_000 };
  return { id: idOf(TASK), body: Buffer.from(writeMessage(TASK)), headers, moved: MOVED, ...extra };
}

test('a task that the broker moved to the dead letters is read as one that nobody got, with its release', () => {
  const found = readLetter(messageOf());
  expect(found).toMatchObject({
    ...{ reason: 'undelivered', run: 'r', host: 'a.test', release: { release: 7, mark: URL } },
    letter: {
      url: URL,
      step: '',
      depth: 2,
      failedAt: '2026-11-18T11:06:42.000Z',
      firstSeen: '2026-11-18T11:06:40.000Z',
    },
  });
  expect(letterJson(found)).toMatchObject({ id: idOf(TASK), reason: 'undelivered' });
});

test.each([
  ['expired', 'a policy of RabbitMQ took it out of url_queue_ttl: it waited there too long (message-ttl)'],
  ['maxlen', 'a policy of RabbitMQ took it out of url_queue_ttl: there were too many (max-length)'],
  ['delivery_limit', 'a policy of RabbitMQ took it out of url_queue_ttl: delivery_limit'],
])('it says why: %s', (why, error) => {
  expect(readLetter(messageOf({ moved: { ...MOVED, why } })).letter?.error).toBe(error);
});

test.each<[string, Partial<DeadLetterMessage>]>([
  ['what is no task', { body: Buffer.from('{}') }],
  ['a seed of another program, which names no release', { headers: {} }],
])('%s stays malformed wherever it comes from', (_, extra) => {
  const found = readLetter(messageOf(extra));
  expect(found).toMatchObject({ reason: 'malformed', letter: undefined });
  expect(found).not.toHaveProperty('release');
});
