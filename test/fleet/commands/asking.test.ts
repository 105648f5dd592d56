import { connect } from 'amqplib';
import { expect, inject, onTestFinished, test } from 'vitest';
import { QUEUE_TTL_MS, topology } from '../../../shared/transports/rabbitmq/topology.ts';
import { commandLines, eachLine, everyCommand } from '../../support/processes/command-lines.ts';
import { openFleet } from '../../support/processes/fleet.ts';
import type { Ended } from '../../support/processes/trawl.ts';
import { TcpProxy } from '../../support/proxies/tcp-proxy.ts';
import { letterOf, publishLetters } from '../../support/stores/letters.ts';

/** For tests that run every command. */
const LONG_MS = 180_000;
const LETTER = 'http://a.test/gone';
/** What commands print on standard error when all is well: the log, their progress, and what they have written. */
const SAID = /^(\{|\d+ dead letters?|Run \S+ (is under way|after)).*\n/gm;

/** Lists the queues and exchanges under a prefix as any AMQP client can: a passive declaration of a missing one fails. */
async function declaredObjects(prefix: string): Promise<string[]> {
  const connection = await connect(inject('rabbitmqUrl'));
  const found: string[] = [];
  for (const { name, exchange } of topology(prefix, 'quorum', QUEUE_TTL_MS)) {
    for (const [what, object] of [
      ['queue', name],
      ['exchange', exchange],
    ] as const) {
      const channel = await connection.createChannel();
      channel.on('error', () => {});
      const looking = what === 'queue' ? channel.checkQueue(object) : channel.checkExchange(object);
      await looking.then(
        () => void found.push(`${what} ${object}`),
        (error: { code?: number }) => expect(error.code).toBe(404),
      );
      await channel.close().catch(() => {});
    }
  }
  await connection.close();
  return found;
}

/** Counts the connections to a server. */
async function counted(url: string): Promise<{ readonly url: string; count: number }> {
  const { hostname, port } = new URL(url);
  const proxy = new TcpProxy({ host: hostname, port: Number(port) });
  await proxy.start();
  onTestFinished(() => proxy.stop());
  const counter = { url: proxy.inFrontOf(url), count: 0 };
  const wait = (): void =>
    void proxy.arrival().then(() => {
      counter.count++;
      wait();
    });
  wait();
  return counter;
}

test(
  'a command that only reads leaves an empty broker and an empty Redis empty',
  async () => {
    const { workplace, redis, keyPrefix, queuePrefix } = await openFleet();
    const lines = commandLines({ page: 'http://a.test/', letter: LETTER, run: 'mine' });
    const asking = Object.entries(lines).filter(([, { onlyAsks }]) => onlyAsks === true);
    const endings = asking.map(async ([name, { args }]) => [name, await workplace.run(args)] as const);
    const ended: Record<string, Ended> = Object.fromEntries(await Promise.all(endings));
    expect(Object.fromEntries(Object.entries(ended).map(([name, { code }]) => [name, code]))).toEqual({
      records: 1,
      try: 1,
      map: 1,
      'crawlers list': 0,
      'crawlers graph': 0,
      status: 0,
      url: 0,
      doctor: 0,
      workers: 0,
      'dlq list': 0,
      'dlq show': 1,
      'dlq export': 0,
      'dlq replay': 0,
      'dlq purge': 0,
    });
    expect(ended['dlq show']?.stderr).toContain(`no dead letter has the id or the URL ${LETTER}`);
    expect(ended.doctor?.stdout).toContain('ok       RabbitMQ: answers; 0 priority and 0 normal deliveries ready');
    expect(await declaredObjects(queuePrefix)).toEqual([]);
    expect(await redis.keys(`${keyPrefix}*`)).toEqual([]);
  },
  LONG_MS,
);

test(
  'a command whose reader has left still does its work silently, and connects only to the servers it needs',
  async () => {
    const { workplace, site, queuePrefix } = await openFleet();
    await publishLetters(inject('rabbitmqUrl'), queuePrefix, [letterOf(LETTER)]);
    const lines = commandLines({ page: site.url('/page/1'), letter: LETTER, run: 'mine' });
    expect(Object.keys(lines).toSorted()).toEqual((await everyCommand()).toSorted());
    await eachLine(lines, async (name, { args, connects }) => {
      const [redis, rabbitmq] = await Promise.all([counted(inject('redisUrl')), counted(inject('rabbitmqUrl'))]);
      const env = { REDIS_URL: redis.url, RABBITMQ_URL: rabbitmq.url };
      const { code, stderr } = await workplace.start(args, undefined, { env, closesOutput: true }).ended;
      const connected = [redis.count > 0 ? ['Redis'] : [], rabbitmq.count > 0 ? ['RabbitMQ'] : []].flat();
      expect([name, connected, code, stderr.replace(SAID, '')]).toEqual([name, connects, 0, '']);
    });
    expect(await workplace.json(['status', 'mine', '--no-local'])).toMatchObject({ state: 'cancelled' });
    expect((await workplace.records('mine')).length).toBe(1);
  },
  LONG_MS,
);
