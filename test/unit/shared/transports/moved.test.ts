import { expect, test } from 'vitest';
import { movedOf } from '../../../../shared/transports/rabbitmq/moved.ts';

/** As RabbitMQ 3.10 writes it and amqplib reads it. */
const EXPIRED = {
  'x-release': 7,
  'x-first-death-exchange': 'crawl',
  'x-first-death-queue': 'url_queue_ttl',
  'x-first-death-reason': 'expired',
  'x-death': [
    {
      count: 1,
      reason: 'expired',
      queue: 'url_queue_ttl',
      time: { '!': 'timestamp', value: 1_795_000_000 },
      exchange: 'crawl',
      'routing-keys': ['normal'],
    },
  ],
};

test.each([
  ['one that the broker has moved', EXPIRED, { from: 'url_queue_ttl', why: 'expired', at: 1_795_000_000_000 }],
  ['one without its time', { ...EXPIRED, 'x-death': undefined }, { from: 'url_queue_ttl', why: 'expired' }],
  [
    'one of no moment',
    { ...EXPIRED, 'x-death': [{ time: { value: 1e15 } }] },
    { from: 'url_queue_ttl', why: 'expired' },
  ],
  ['one that was published there', { 'x-attempt': 3 }, undefined],
  ['one without headers', undefined, undefined],
])('what the headers of a letter say of a move: %s', (_, headers, moved) => {
  expect(movedOf(headers)).toEqual(moved);
});
