import { expect, inject, onTestFinished, test } from 'vitest';
import { RecoveringConnection } from '../../shared/transports/rabbitmq/recovering-connection.ts';

test('a channel that the broker closes takes its connection along, and why it did is said in its words', async () => {
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
  const { model, watch } = connection.live ?? {};
  const channel = watch?.((await model?.createConfirmChannel()) ?? expect.unreachable());
  channel?.publish('no-such-exchange', '', Buffer.from(''));
  await expect.poll(() => said.at(-1), { timeout: 10_000 }).toBe('restored');
  expect(said).toEqual([expect.stringContaining("NOT_FOUND - no exchange 'no-such-exchange' in vhost"), 'restored']);
});
