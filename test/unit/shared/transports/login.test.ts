import { expect, test } from 'vitest';
import { loginOf } from '../../../../shared/transports/rabbitmq/login.ts';

// biome-ignore format: a table
test.each([
  ['amqp://h',                       ['guest', 'guest']],
  ['amqp://jo@h',                    ['jo', '']],
  ['amqp://jo:sesame@h',             ['jo', 'sesame']],
  ['amqp://j%C3%B6:p%C3%A4%2B%25@h', ['jö', 'pä+%']],
  ['amqp://jö:pä+@h',                ['jö', 'pä+']],
])('the login of %s is sent as UTF-8', (url, [user, password]) => {
  expect(loginOf(new URL(url)).response()).toEqual(Buffer.from(`\0${user}\0${password}`));
});

test('with auth_mechanism=external, the certificate is the login', () => {
  const login = loginOf(new URL('amqps://jo:sesame@h/v?heartbeat=10&auth_mechanism=external'));
  expect([login.mechanism, String(login.response())]).toEqual(['EXTERNAL', '']);
  expect(loginOf(new URL('amqps://jo:sesame@h/v?auth_mechanism=plain')).mechanism).toBe('PLAIN');
});
