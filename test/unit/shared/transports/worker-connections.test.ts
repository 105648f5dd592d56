import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import type { ChannelModel } from 'amqplib';
import { expect, test } from 'vitest';
import { alarmOf } from '../../../../shared/transports/rabbitmq/alarm.ts';
import { checkAsWorker } from '../../../../shared/transports/rabbitmq/declaring.ts';

/** A connection on which so many channels can be open. */
function connectionOf(channelMax: number): ChannelModel {
  let open = 0;
  const createChannel = async () => {
    if (open === channelMax) throw new Error('No channels left to allocate');
    open++;
    return { once() {}, on() {}, close: async () => void open-- };
  };
  return { createChannel } as unknown as ChannelModel;
}

test.each([1, 2])('a connection with room for %i channels is too little for a worker', async (channels) => {
  await expect(checkAsWorker(connectionOf(channels), [])).rejects.toThrow(/raise its channel_max.* A worker needs 3$/);
});

test('a connection with room for three channels is enough', async () => {
  await expect(checkAsWorker(connectionOf(3), [])).resolves.toBeUndefined();
});

test('a second connection that fails is told as such, with the reason', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  await expect(alarmOf(`amqp://127.0.0.1:${port}`, 'test')).rejects.toThrow(
    /^no second connection, and a worker needs two: .*ECONNREFUSED/,
  );
});
