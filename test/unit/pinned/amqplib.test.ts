import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { connect } from 'amqplib';
import { expect, onTestFinished, test } from 'vitest';
import { requireInside, sourceOf, versionsOf } from './package-files.ts';

const CONNECTION = 'shared/transports/rabbitmq/recovering-connection.ts';

test('amqplib is pinned to the version whose inside is known', () => {
  const { asked, installed } = versionsOf('amqplib');
  expect(asked, `${CONNECTION} reaches its socket: \`amqplib\` needs an exact version`).toBe(installed);
});

test('a connection has its socket as `stream`, and a model its connection as `connection`', () => {
  const { Connection } = requireInside('amqplib', 'lib/connection.js') as {
    Connection: new (socket: Duplex) => NodeJS.EventEmitter & { stream: Duplex };
  };
  const { ChannelModel } = requireInside('amqplib', 'lib/channel_model.js') as {
    ChannelModel: new (connection: object) => { connection: unknown };
  };
  const socket = new Duplex({ read() {}, write() {} });
  const connection = new Connection(socket);
  const message = `the socket is elsewhere: correct \`socketOf\` in ${CONNECTION}, or no write is batched and no dead socket closed`;
  expect(connection.stream, message).toBe(socket);
  expect(new ChannelModel(connection).connection, message).toBe(connection);
});

test('recovery tells of each attempt: that it is due in `delay`, and that it failed', async () => {
  const server = createServer((socket: Socket) => socket.destroy());
  await listening(server);
  const { port } = server.address() as { port: number };
  const connection = await connect(`amqp://127.0.0.1:${port}`, {
    recovery: { waitForConnect: false, initialMaxRetries: 1, initialDelay: 1, maxDelay: 1 },
  });
  connection.on('error', () => {});
  const told: string[] = [];
  connection.on('connect-failed', (error: Error) => told.push(`connect-failed ${error instanceof Error}`));
  connection.on('reconnect-scheduled', ({ delay }) => told.push(`reconnect-scheduled ${typeof delay}`));
  connection.on('reconnect-failed', () => told.push('reconnect-failed'));
  await expect(connection.waitForConnect()).rejects.toThrow();
  await connection.close();
  expect(told, `its events have changed: \`stop\` in ${CONNECTION} waits for them`).toEqual([
    'connect-failed true',
    'reconnect-scheduled number',
    'connect-failed true',
    'reconnect-failed',
  ]);
});

test('a nack is told as `message nacked`', () => {
  expect(
    sourceOf('amqplib', 'lib/channel.js'),
    'shared/transports/rabbitmq/publisher.ts tells a nack from a lost channel by this text',
  ).toContain("new Error('message nacked')");
});

async function listening(server: Server): Promise<void> {
  onTestFinished(() => void server.close());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
}
