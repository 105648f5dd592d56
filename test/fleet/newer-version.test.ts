import { connect } from 'amqplib';
import { expect, inject, onTestFinished, test } from 'vitest';
import { AT_FULL_SPEED } from '../support/full-speed.ts';
import { openFleet, pagesFetched } from '../support/processes/fleet.ts';
import { testTransport } from '../support/stores/rabbitmq.ts';

test('messages of a newer version are put back, not dead-lettered as malformed, and old workers do not spin on them', async () => {
  const { workplace, site, queuePrefix, redis, keyPrefix } = await openFleet({ pages: 3 });
  const { run } = await workplace.json(['produce', site.url('/sitemap.xml'), ...AT_FULL_SPEED]);
  const connection = await connect(inject('rabbitmqUrl'));
  const channel = await connection.createConfirmChannel();
  // A newer releaser's messages in place of ours, and a stranger's seed that names no run.
  for (let n = 0; n < 3; n++) {
    const message = await channel.get(`${queuePrefix}url_queue_ttl`, { noAck: true });
    if (message === false) throw new Error('expected a message');
    const { messageId, headers } = message.properties;
    const body = Buffer.from(JSON.stringify({ v: 3, address: JSON.parse(message.content.toString()).url }));
    channel.publish(`${queuePrefix}crawl`, 'normal', body, { persistent: true, messageId, headers });
  }
  channel.publish(`${queuePrefix}crawl`, 'normal', Buffer.from('{"v":3,"address":"http://a.test/"}'));
  await channel.waitForConfirms();
  await connection.close();
  const workers = [1, 2].map(() => workplace.start(['work', '--log-format', 'json', ...AT_FULL_SPEED]));
  await Promise.all(workers.map((worker) => worker.says(/newer version/)));
  await expect.poll(async () => (await workplace.json(['status', run])).state, { interval: 500 }).toBe('finished');
  expect(await workplace.json(['status', run])).toMatchObject({ done: 3, failed: 0 });
  expect(pagesFetched(site).length).toBe(3);
  expect(await workplace.json(['dlq', 'list'])).toEqual([]);
  expect(new Set((await workplace.records(run)).map(({ attempt }) => attempt))).toEqual(new Set([1]));
  expect(Number(await redis.hget(`${keyPrefix}run:${run}`, 'released')), 'each once more, not thousands').toBe(6);
  for (const worker of workers) worker.signal('SIGTERM');
  const lines = (await Promise.all(workers.map(({ ended }) => ended))).map(({ stderr }) => stderr).join('');
  // The seed is returned to the queue every two seconds, by whoever holds it.
  expect(lines.match(/newer version/g)?.length).toBeLessThan(20);
});

test('a worker leaves the tasks of a crawler it lacks to workers that have it', async () => {
  const { workplace, site, redis, keyPrefix } = await openFleet({ pages: 3 });
  const { run } = await workplace.json(['produce', site.url('/sitemap.xml'), ...AT_FULL_SPEED]);
  const key = `${keyPrefix}run:${run}`;
  const options = (await redis.hget(key, 'options')) ?? '';
  await redis.hset(key, 'options', JSON.stringify({ ...JSON.parse(options), crawler: 'of-tomorrow' }));
  const worker = workplace.start(['work', ...AT_FULL_SPEED]);
  await worker.says(/of-tomorrow.*left to others/);
  await expect.poll(async () => (await workplace.json(['status', run])).waiting).toBe(3);
  expect(site.requests.filter(({ path }) => path.startsWith('/page/'))).toEqual([]);
  await redis.hset(key, 'options', options);
  await expect.poll(async () => (await workplace.json(['status', run])).state, { interval: 500 }).toBe('finished');
  expect(await workplace.json(['status', run])).toMatchObject({ done: 3, failed: 0 });
  expect((await workplace.records(run)).map(({ attempt }) => attempt)).toEqual([1, 1, 1]);
  worker.signal('SIGTERM');
  expect((await worker.ended).stderr.match(/left to others/g)?.length, 'said once').toBe(1);
});

test('two hundred messages of a newer version do not hold up the pages of a run', async () => {
  const { workplace, site, queuePrefix } = await openFleet({ pages: 200 });
  const transport = testTransport(inject('rabbitmqUrl'), queuePrefix);
  await transport.start();
  onTestFinished(() => transport.stop());
  const foreign = { to: 'normal', id: '', body: '{"v":3,"address":"http://a.test/"}', headers: {} } as const;
  await transport.publish(Array.from({ length: 200 }, () => foreign));
  const { run } = await workplace.json(['produce', site.url('/sitemap.xml'), ...AT_FULL_SPEED]);
  const worker = workplace.start(['work', ...AT_FULL_SPEED]);
  await worker.says(/consuming/);
  const began = performance.now();
  await expect.poll(() => pagesFetched(site).length).toBe(200);
  expect(performance.now() - began, 'each pass over them takes a second').toBeLessThan(20_000);
  await expect.poll(async () => (await workplace.json(['status', run])).state).toBe('finished');
  worker.signal('SIGTERM');
  expect((await worker.ended).code).toBe(0);
  // Each at least once: a worker that ends between a copy and its ack leaves both.
  await expect.poll(async () => (await transport.depths()).normal.ready).toBeGreaterThanOrEqual(200);
});
