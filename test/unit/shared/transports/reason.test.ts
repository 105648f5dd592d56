import { expect, test } from 'vitest';
import { ConfigurationError } from '../../../../shared/runtime/errors.ts';
import { reasonOf } from '../../../../shared/transports/rabbitmq/recovering-connection.ts';

test.each([
  ['connect ECONNREFUSED 127.0.0.1:5672', 'connect ECONNREFUSED 127.0.0.1:5672'],
  ['no route to amqp://user:secret@broker/', 'no route to amqp://broker/'],
  [
    'Expected ConnectionOpenOk; got <ConnectionClose channel:0>',
    'it refuses the virtual host: it no longer exists, its user may not use it, or it has too many connections (its log says which)',
  ],
])('why a connection failed, for people: %s', (said, reason) => {
  expect(reasonOf(new Error(said))).toBe(reason);
});

test("an error of our own is told in its words, without its code, and amqplib's of too few channels with the remedy", () => {
  const problem = 'queue q: expected x-message-ttl to be 1, found 2';
  expect(reasonOf(new ConfigurationError([problem]))).toBe(problem);
  expect(reasonOf(new Error('No channels left to allocate'))).toContain('raise its channel_max');
});
