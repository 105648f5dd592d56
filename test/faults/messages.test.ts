import { describe, expect } from 'vitest';
import { testTransport } from '../support/stores/rabbitmq.ts';
import { type Crawl, openCrawl, RUN } from './harness/crawl.ts';
import { row } from './harness/row.ts';
import { until } from './harness/until.ts';
import { verdict } from './harness/verdict.ts';

/** Publishes `times` copies of up to `count` waiting messages, and leaves the originals in the queue. */
async function copyWaiting(crawl: Crawl, count: number, times: number): Promise<void> {
  const { prefix } = crawl;
  await crawl.onChannel(async (channel) => {
    for (let n = 0; n < count; n++) {
      const message = await channel.get(`${prefix}url_queue_ttl`);
      if (message === false) break;
      for (let copy = 0; copy < times; copy++) {
        channel.publish(`${prefix}crawl`, 'normal', message.content, message.properties);
      }
      channel.nack(message, false, true);
    }
  });
}

interface Held {
  readonly content: Buffer;
  readonly properties: object;
}

/** Returns copies of `count` waiting messages. */
async function heldBack(crawl: Crawl, count: number): Promise<Held[]> {
  const held: Held[] = [];
  await crawl.onChannel(async (channel) => {
    for (let n = 0; n < count; n++) {
      const message = await channel.get(`${crawl.prefix}url_queue_ttl`);
      if (message === false) throw new Error('expected a message');
      held.push(message);
    }
  });
  return held;
}

async function arrive(crawl: Crawl, held: readonly Held[]): Promise<void> {
  await crawl.onChannel((channel) => {
    for (const { content, properties } of held) channel.publish(`${crawl.prefix}crawl`, 'normal', content, properties);
  });
}

/** Number of ready messages in both queues. */
async function messagesLeft(crawl: Crawl): Promise<number> {
  const transport = testTransport(crawl.rabbitmqUrl, crawl.prefix);
  await transport.start();
  try {
    const { priority, normal } = await transport.depths();
    return priority.ready + normal.ready;
  } finally {
    await transport.stop();
  }
}

describe('unexpected messages', () => {
  row(21, 'every message arrives twice', async (round) => {
    const crawl = await openCrawl(round);
    await crawl.produceOnly();
    await copyWaiting(crawl, crawl.expected.size, 1);
    await crawl.begin();
    await verdict(crawl, { faults: 3 });
  });

  row(22, 'messages arrive after their run has ended', async (round) => {
    const crawl = await openCrawl(round);
    await crawl.produceOnly();
    const held = await heldBack(crawl, 20);
    await crawl.begin();
    await crawl.ends(60_000, false);
    const asked = crawl.site.requests.length;
    await arrive(crawl, held);
    round.mended();
    await verdict(crawl);
    expect(crawl.site.requests.length).toBe(asked);
  });

  row('22b', 'messages arrive after their run was cancelled', async (round) => {
    // Slow enough that some pages still wait when it is cancelled, however long the command takes.
    const crawl = await openCrawl(round, { perMinute: 600 });
    await crawl.produceOnly();
    const held = await heldBack(crawl, 20);
    await crawl.begin(false);
    await crawl.someMoment();
    await crawl.workplace.json(['cancel', RUN]);
    await crawl.ends(60_000, true);
    const [before, asked] = [await crawl.progress(), crawl.site.requests.length];
    await arrive(crawl, held);
    round.mended();
    await until('they are taken', async () => (await messagesLeft(crawl)) === 0);
    // Pages in hand are finished first.
    await crawl.endWorkers();
    const after = await crawl.progress();
    expect(after).toEqual({ ...before, readAt: after?.readAt });
    expect(await messagesLeft(crawl), 'messages given back').toBe(0);
    expect(after?.state).toBe('cancelled');
    expect(after?.cancelled).toBeGreaterThan(0);
    expect(crawl.site.requests.length, 'requests after the end').toBe(asked);
  });

  row(23, 'messages that are not tasks: bad JSON, a wrong shape, a newer version', async (round) => {
    const crawl = await openCrawl(round);
    await crawl.begin();
    await crawl.someMoment();
    const exchange = `${crawl.prefix}crawl`;
    const newer = { messageId: `${RUN}:0`, headers: { 'x-release': 999_999 } };
    await crawl.onChannel((channel) => {
      channel.publish(exchange, 'normal', Buffer.from('{"url":'), { messageId: 'bad-json' });
      channel.publish(exchange, 'priority', Buffer.from('{"v":1,"url":17}'), { messageId: 'bad-shape' });
      channel.publish(exchange, 'normal', Buffer.from('{"v":1,"url":"ftp://x/"}'), { messageId: 'bad-url' });
      channel.publish(exchange, 'normal', Buffer.from('{"v":3,"something":"else"}'), newer);
    });
    round.mended();
    await verdict(crawl, { otherLetters: 3 });
    const letters = await crawl.workplace.json(['dlq', 'list', '--reason', 'malformed']);
    expect(letters.map(({ id }: { id: string }) => id).toSorted()).toEqual(['bad-json', 'bad-shape', 'bad-url']);
  });

  row(25, 'bytes that are not UTF-8, in a message and in a page', async (round) => {
    const crawl = await openCrawl(round, { trouble: { '/bytes': 'done', '/status/404': 'failed:http_4xx' } });
    crawl.site.on('/bytes', (_, response) => {
      response.setHeader('content-type', 'text/html; charset=utf-8');
      response.end(Buffer.concat([Buffer.from('<title>a'), Buffer.from([0xff, 0xc3]), Buffer.from('b</title>')]));
    });
    await crawl.begin();
    await crawl.onChannel((channel) => {
      channel.publish(`${crawl.prefix}crawl`, 'normal', Buffer.from([0x7b, 0xff, 0xfe]), { messageId: 'bytes' });
    });
    round.mended();
    await verdict(crawl, { otherLetters: 1 });
    const records = await crawl.workplace.records(RUN);
    expect(records.find(({ url }) => url.endsWith('/bytes'))?.title).toBe('a\ufffd\ufffdb');
    const [letter] = await crawl.workplace.json(['dlq', 'list', '--reason', 'malformed']);
    expect(letter.id).toBe('bytes');
  });

  row(42, 'tasks written by a newer program, which are left to others and never dead-lettered', async (round) => {
    const crawl = await openCrawl(round);
    await crawl.produceOnly();
    await crawl.onChannel(async (channel) => {
      for (let n = 0; n < 20; n++) {
        const message = await channel.get(`${crawl.prefix}url_queue_ttl`);
        if (message === false) throw new Error('expected a message');
        const newer = Buffer.from(JSON.stringify({ ...JSON.parse(message.content.toString()), v: 3 }));
        channel.publish(`${crawl.prefix}crawl`, 'normal', newer, message.properties);
        channel.ack(message);
      }
    });
    round.mended();
    await crawl.begin();
    await verdict(crawl);
  });
});
