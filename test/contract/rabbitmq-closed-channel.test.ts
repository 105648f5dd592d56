import { expect, inject, onTestFinished, test } from 'vitest';
import { RecoveringConnection, socketOf } from '../../shared/transports/rabbitmq/recovering-connection.ts';

/** A truncated `queue.declare` on channel 9, which was never opened. */
const MALFORMED = Buffer.from([1, 0, 9, 0, 0, 0, 4, 0, 50, 0, 10, 0xce]);
/** The broker's answers to that. */
const REASON = /CHANNEL_ERROR|FRAME_ERROR|SYNTAX_ERROR|UNEXPECTED_FRAME/;

async function setup() {
  const said: string[] = [];
  const connection = new RecoveringConnection({
    url: inject('rabbitmqUrl'),
    name: 'a test',
    heartbeatSeconds: 30,
    build: async () => {},
    events: { lost: (reason) => said.push(reason), restored: () => said.push('restored'), blocked: () => {} },
  });
  onTestFinished(() => connection.stop());
  await connection.start();
  const { model, watch } = connection.live ?? expect.unreachable();
  return { said, model, channel: watch(await model.createConfirmChannel()) };
}

test('a channel closed by the broker causes a reconnect, and the broker’s reason is reported', async () => {
  const { said, channel } = await setup();
  channel.publish('no-such-exchange', '', Buffer.from(''));
  await expect.poll(() => said.at(-1)).toBe('restored');
  expect(said).toEqual([expect.stringContaining("NOT_FOUND - no exchange 'no-such-exchange' in vhost"), 'restored']);
});

test('a connection closed by the broker is reported with the broker’s reason, although its channels close first', async () => {
  const { said, model } = await setup();
  socketOf(model).write(MALFORMED);
  await expect.poll(() => said.at(-1)).toBe('restored');
  expect(said).toEqual([expect.stringMatching(REASON), 'restored']);
});

test('a connection closed by the broker while it is being built is refused with the broker’s reason', async () => {
  const connection = new RecoveringConnection({
    url: inject('rabbitmqUrl'),
    name: 'a test',
    heartbeatSeconds: 30,
    build: async ({ model }) => {
      socketOf(model).write(MALFORMED);
      await model.createChannel();
      await model.createChannel();
    },
    events: { lost: () => {}, restored: () => {}, blocked: () => {} },
  });
  onTestFinished(() => connection.stop());
  await expect(connection.start()).rejects.toThrow(REASON);
});
