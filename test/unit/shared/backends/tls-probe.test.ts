import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { probedReason } from '../../../../shared/backends/tls-probe.ts';
import { ClientTls } from '../../../../shared/runtime/client-tls.ts';

/** A server that answers the first eight bytes with a text, and hangs up. */
async function openServer(answer: string): Promise<number> {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    let bytes = 0;
    socket.on('data', (data) => {
      bytes += data.length;
      if (bytes >= 8) socket.end(answer);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

// biome-ignore format: a table
test.each([
  ['redis',  'write ECONNRESET',  'AMQP\0\0\u0009\u0001', 'RabbitMQ answers there'],
  ['redis',  'write ECONNRESET',  '',                     'write ECONNRESET'],
  ['amqp',   'connect ETIMEDOUT', '+PONG\r\n',            'Redis answers there'],
  ['amqp',   'connect ETIMEDOUT', '-NOAUTH\r\n',          'Redis answers there'],
  ['amqp',   'connect ETIMEDOUT', '',                     'connect ETIMEDOUT'],
  ['amqp',   'Socket closed abruptly', 'HTTP/1.1 400\r\n', 'a server of another kind answers there'],
  ['amqp',   'Socket closed abruptly', '',              'Socket closed abruptly'],
  ['rediss', 'connect ETIMEDOUT', '+PONG\r\n',            'with it, connect ETIMEDOUT'],
])('what a server at the address of %s tells: %s, %j', async (scheme, said, answer, reason) => {
  const url = `${scheme}://127.0.0.1:${await openServer(answer)}`;
  expect(await probedReason(said, { url, tls: new ClientTls({}) })).toBe(reason);
});
