import { describe, expect, onTestFinished } from 'vitest';
import type { PublishOutcome } from '../../shared/ports/transport.ts';
import { message } from '../contract/suites/transport.contract.ts';
import { testTransport, uniquePrefix } from '../support/stores/rabbitmq.ts';
import { openCrawl } from './harness/crawl.ts';
import { row } from './harness/row.ts';
import { ownServers } from './harness/servers.ts';
import { passes, until } from './harness/until.ts';
import { verdict } from './harness/verdict.ts';

const servers = ownServers('rabbitmq');

describe('the broker takes no more', () => {
  row(13, 'a queue is full and refuses', async (round) => {
    const crawl = await openCrawl(round, { rabbitmqUrl: servers().rabbitmq.url });
    const policy = ['full', `^${crawl.prefix.replace('.', '[.]')}url_queue_ttl`] as const;
    const full = '{"max-length":10,"overflow":"reject-publish"}';
    await crawl.produceOnly();
    await servers().rabbitmq.ctl('set_policy', '--apply-to', 'queues', ...policy, full);
    const more = await crawl.workplace.run(
      ['produce', '-', '--run', 'more', ...crawl.produceFlags],
      Array.from({ length: 50 }, (_, n) => crawl.site.url(`/page/${n + 1}?more`)).join('\n'),
    );
    expect(more.code, more.stderr).toBe(0);
    expect(await crawl.redis.hget(`${crawl.prefix}run:more`, 'waiting'), 'put back, nothing dropped').toBe('50');
    await crawl.begin();
    await until('the other run ends', async () => (await crawl.redis.hget(`${crawl.prefix}run:more`, 'done')) === '50');
    await servers().rabbitmq.ctl('clear_policy', 'full');
    round.mended();
    await verdict(crawl, { producerCode: 0 });
  });

  row('13b', 'a policy makes a queue full and is then removed: publishers resume by themselves', async (round) => {
    const { rabbitmq } = servers();
    const prefix = uniquePrefix();
    const transport = testTransport(rabbitmq.url, prefix);
    await transport.start();
    onTestFinished(() => transport.stop());
    const pattern = `^${prefix.replace('.', '[.]')}`;
    const full = '{"max-length":10,"overflow":"reject-publish"}';
    await rabbitmq.ctl('set_policy', '--apply-to', 'queues', 'full', pattern, full);
    const publish = async (count: number): Promise<ReadonlySet<PublishOutcome>> =>
      new Set(await transport.publish(Array.from({ length: count }, () => message())));
    await publish(60);
    expect(await publish(5)).toEqual(new Set(['refused']));
    expect(transport.trouble()).toBe('full');
    await rabbitmq.ctl('clear_policy', 'full');
    round.mended();
    const taker = await transport.consume('normal', async () => 'ack', { prefetch: 10 });
    await until('it takes messages', async () => (await publish(1)).has('confirmed'), { withinMs: 20_000 });
    round.recovered(performance.now() - round.mendedAt);
    await taker.stop();
  });

  row('13c', 'a policy makes the queue of dead letters full and is then removed', async (round) => {
    const { rabbitmq } = servers();
    const prefix = uniquePrefix();
    const renewed: string[] = [];
    const transport = testTransport(rabbitmq.url, prefix, { onRefusing: (queue) => void renewed.push(queue) });
    await transport.start();
    onTestFinished(() => transport.stop());
    const full = '{"max-length":10,"overflow":"reject-publish"}';
    await rabbitmq.ctl('set_policy', '--apply-to', 'queues', 'full', `^${prefix.replace('.', '[.]')}failed_urls`, full);
    const publish = async (count: number): Promise<ReadonlySet<PublishOutcome>> =>
      new Set(await transport.publish(Array.from({ length: count }, () => message('failed'))));
    await publish(60);
    expect(await publish(5)).toEqual(new Set(['refused']));
    const { failed } = await transport.depths();
    await passes(6_000);
    expect(await publish(5), 'by the old channel').toEqual(new Set(['refused']));
    await until('a new channel is used', () => renewed.length > 0);
    expect(await publish(5), 'by the new channel').toEqual(new Set(['refused']));
    expect((await transport.depths()).failed, 'nothing is taken beyond the bound').toEqual(failed);
    await rabbitmq.ctl('clear_policy', 'full');
    round.mended();
    await until('it takes messages', async () => (await publish(1)).has('confirmed'), { withinMs: 20_000 });
    round.recovered(performance.now() - round.mendedAt);
  });

  row(12, 'a page takes longer than the broker waits for its acknowledgement', async (round) => {
    const { rabbitmq } = servers();
    await rabbitmq.ctl(
      'eval',
      'application:set_env(rabbit, consumer_timeout, 3000), application:set_env(rabbit, channel_tick_interval, 1000).',
    );
    try {
      const crawl = await openCrawl(round, { rabbitmqUrl: rabbitmq.url, trouble: { '/slow/6000': 'done' } });
      await crawl.begin();
      await until('the slow page is asked for', () => crawl.site.requests.some(({ path }) => path === '/slow/6000'));
      await until('a channel is closed for it', () => crawl.said.includes('connection lost'), { withinMs: 20_000 });
      round.mended();
      // No lease lapses: the worker still has the page in hand and renews its lease.
      await verdict(crawl, { faults: 4 });
    } finally {
      await rabbitmq.ctl('eval', 'application:set_env(rabbit, consumer_timeout, 1800000).');
    }
  });

  row(26, 'a message too large to be dead-lettered whole', async (round) => {
    const { rabbitmq } = servers();
    const crawl = await openCrawl(round, {
      rabbitmqUrl: rabbitmq.url,
      trouble: { '/big?bytes=12000000': 'skipped:size' },
    });
    await crawl.produceOnly();
    await crawl.publishByHand('normal', Buffer.alloc(20 * 2 ** 20, 'x'), { messageId: 'huge' });
    await rabbitmq.ctl('eval', 'application:set_env(rabbit, max_message_size, 2097152).');
    try {
      await crawl.begin();
      round.mended();
      await verdict(crawl, { otherLetters: 1, lapses: true });
    } finally {
      await rabbitmq.ctl('eval', 'application:set_env(rabbit, max_message_size, 134217728).');
    }
  });

  row('26b', 'messages larger than the broker takes hold up no others', async (round) => {
    const { rabbitmq } = servers();
    const prefix = uniquePrefix();
    const lost: string[] = [];
    /** How often the connection had been lost when it was last restored. */
    let restored = 0;
    const clock = { ms: 0 };
    const transport = testTransport(rabbitmq.url, prefix, {
      onLost: (reason) => void lost.push(reason),
      onRestored: () => {
        restored = lost.length;
      },
      now: () => clock.ms,
    });
    const limit = async (bytes: number): Promise<void> =>
      void (await rabbitmq.ctl('eval', `application:set_env(rabbit, max_message_size, ${bytes}).`));
    const small = message();
    const large = { ...message(), body: 'x'.repeat(7_000) };
    await limit(2_000);
    onTestFinished(() => limit(134_217_728));
    await transport.start();
    onTestFinished(() => transport.stop());
    const first = await transport.publish([large, small, large, small]);
    expect(first, 'all that follow are ignored').toEqual(['too_large', 'refused', 'too_large', 'refused']);
    expect(transport.trouble()).toBe('too_large');
    await until('it is connected again', () => restored === 1);
    expect(lost[0]).toContain('7000 bytes is larger than its max_message_size, 2000: raise that');
    expect(await transport.publish([large, small])).toEqual(['too_large', 'confirmed']);
    clock.ms += 60_000;
    const [others, second] = await Promise.all([transport.publish([small, small]), transport.publish([large, small])]);
    expect(others, 'sent before it').toEqual(['confirmed', 'confirmed']);
    expect(second, 'tried again, alone').toEqual(['too_large', 'refused']);
    await limit(134_217_728);
    round.mended();
    await until('it is connected again', () => restored === 2);
    clock.ms += 60_000;
    // Its channel may still have the limit of before.
    const [tried] = await transport.publish([large]);
    if (tried !== 'confirmed') await until('it is connected again', () => restored === 3);
    clock.ms += 60_000;
    expect(await transport.publish([large, small])).toEqual(['confirmed', 'confirmed']);
    expect(transport.trouble()).toBeUndefined();
    round.recovered(performance.now() - round.mendedAt);
  });
});
