import { expect, inject, onTestFinished, test } from 'vitest';
import { RecoveringConnection, socketOf } from '../../shared/transports/rabbitmq/recovering-connection.ts';

const NEVER = new Promise<void>(() => {});
const UNANSWERED = 'it answers, but its queues do not: in a cluster, most nodes must be up';

/** Makes a connection whose build attempts get these answers in turn. */
function connectionWith(...answers: readonly Promise<void>[]) {
  const said: string[] = [];
  const left = [...answers];
  const connection = new RecoveringConnection({
    url: inject('rabbitmqUrl'),
    name: 'a test',
    heartbeatSeconds: 30,
    buildWithinMs: 300,
    // Like `queue.declare` and `basic.consume` in a cluster that has lost the majority of a queue's nodes.
    build: () => left.shift() ?? Promise.resolve(),
    events: { lost: (reason) => said.push(reason), restored: () => said.push('restored'), blocked: () => {} },
  });
  onTestFinished(() => connection.stop());
  return { connection, said };
}

test('a broker whose queues never answer fails the first start', async () => {
  const { connection } = connectionWith(NEVER);
  await expect(connection.start()).rejects.toThrow(UNANSWERED);
});

test('queues that stop answering after the first start are reported and retried until they answer', async () => {
  const { connection, said } = connectionWith(Promise.resolve(), NEVER, NEVER);
  await connection.start();
  if (connection.live === undefined) throw new Error('expected it to be connected');
  socketOf(connection.live.model).destroy(new Error('cut'));
  await expect.poll(() => said.at(-1)).toBe('restored');
  expect(said).toEqual([expect.stringContaining('cut'), UNANSWERED, UNANSWERED, 'restored']);
});
