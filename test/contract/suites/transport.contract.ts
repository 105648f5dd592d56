import { describe, expect, onTestFinished, test } from 'vitest';
import type { Delivery, Destination, Handling, OutgoingMessage, Transport } from '../../../shared/ports/transport.ts';

/** A transport under test. */
interface OpenedTransport {
  readonly transport: Transport;
  /** Another process' transport on the same queues, or the same transport if there is only one process. */
  readonly other: Transport;
  /** A transport on the same queues that was never started. */
  unstarted(): Transport;
  close(): Promise<void>;
}

export type OpenTransport = (ttlMs?: Partial<Record<Destination, number>>) => Promise<OpenedTransport>;

let messages = 0;

export function message(to: Destination = 'normal', extra: Partial<OutgoingMessage> = {}): OutgoingMessage {
  const id = `m-${++messages}`;
  return { to, id, body: JSON.stringify({ id }), headers: { 'x-release': messages, 'x-attempt': 1 }, ...extra };
}

export function ids(deliveries: readonly { id: string | undefined }[]): (string | undefined)[] {
  return deliveries.map(({ id }) => id);
}

/** Collects deliveries, and lets a test await the n-th. Answers each with the result of `answer`, by default `ack`. */
export class Inbox {
  readonly deliveries: Delivery[] = [];
  readonly #answer: (delivery: Delivery) => Handling | Promise<Handling>;
  #waiters: { readonly count: number; readonly resolve: () => void }[] = [];

  constructor(answer: (delivery: Delivery) => Handling | Promise<Handling> = () => 'ack') {
    this.#answer = answer;
  }

  readonly handler = async (delivery: Delivery): Promise<Handling> => {
    this.deliveries.push(delivery);
    for (const { count, resolve } of this.#waiters) if (this.deliveries.length >= count) resolve();
    return await this.#answer(delivery);
  };

  /** Resolves once this many deliveries have arrived. */
  async has(count: number): Promise<readonly Delivery[]> {
    if (this.deliveries.length < count) {
      await new Promise<void>((resolve) => this.#waiters.push({ count, resolve }));
    }
    return this.deliveries;
  }
}

/** The contract of every transport. */
export function describeTransport(name: string, open: OpenTransport): void {
  describe(`transport: ${name}`, () => {
    async function setup(ttlMs: Partial<Record<Destination, number>> = {}): Promise<OpenedTransport> {
      const opened = await open(ttlMs);
      onTestFinished(() => opened.close());
      return opened;
    }

    test('a published message is confirmed, delivered with its id, body and headers, and gone when acked', async () => {
      const { transport, other } = await setup();
      const sent = message('normal', { headers: { 'x-release': 7, 'x-attempt': 2, 'x-last-error': 'timeout' } });
      expect(await transport.publish([sent])).toEqual(['confirmed']);
      const inbox = new Inbox();
      const consumer = await other.consume('normal', inbox.handler, { prefetch: 5 });
      const [delivery] = await inbox.has(1);
      expect(delivery).toMatchObject({ queue: 'normal', id: sent.id, headers: sent.headers, redelivered: false });
      expect(new TextDecoder().decode(delivery?.body)).toBe(sent.body);
      await consumer.stop();
      expect(await transport.depths()).toMatchObject({ normal: { ready: 0 } });
    });

    test('without acks all waiting messages are handed over at once and only once, whatever the handler answers', async () => {
      const { transport, other } = await setup();
      const { promise: answer, resolve } = Promise.withResolvers<Handling>();
      const inbox = new Inbox(({ id }) => (id === 'm-throws' ? Promise.reject(new Error('a fault')) : answer));
      await transport.publish([
        ...Array.from({ length: 99 }, () => message('priority')),
        { ...message('priority'), id: 'm-throws' },
      ]);
      const consumer = await other.consume('priority', inbox.handler, { prefetch: 1, ack: 'auto' });
      await inbox.has(100);
      expect(await transport.depths()).toMatchObject({ priority: { ready: 0 } });
      let hasStopped = false;
      const stopped = consumer.stop().then(() => {
        hasStopped = true;
      });
      await transport.depths();
      expect(hasStopped, 'stop waits for what was handed over').toBe(false);
      resolve('return');
      await stopped;
      expect(inbox.deliveries.length).toBe(100);
      expect(await transport.depths()).toMatchObject({ priority: { ready: 0, consumers: 0 } });
    });

    test('a consumer without acks that is stopped under load either hands over or leaves each message', async () => {
      const { transport, other } = await setup();
      const inbox = new Inbox();
      const consumer = await other.consume('priority', inbox.handler, { prefetch: 1, ack: 'auto' });
      const publishing = transport.publish(Array.from({ length: 2_000 }, () => message('priority')));
      await inbox.has(100);
      await consumer.stop();
      await publishing;
      await expect.poll(async () => (await transport.depths()).priority.ready + inbox.deliveries.length).toBe(2_000);
    });

    test('the two queues are separate', async () => {
      const { transport } = await setup();
      await transport.publish([message('priority'), message('normal'), message('normal')]);
      expect(await transport.depths()).toMatchObject({
        priority: { ready: 1 },
        normal: { ready: 2 },
        failed: { ready: 0 },
      });
    });

    test('no more deliveries than the prefetch are unanswered at a time', async () => {
      const { transport } = await setup();
      await transport.publish(Array.from({ length: 10 }, () => message()));
      const { promise: answer, resolve } = Promise.withResolvers<Handling>();
      const inbox = new Inbox(() => answer);
      const consumer = await transport.consume('normal', inbox.handler, { prefetch: 3 });
      await inbox.has(3);
      expect(await transport.depths()).toMatchObject({ normal: { ready: 7 } });
      resolve('ack');
      await inbox.has(10);
      await consumer.stop();
      expect(inbox.deliveries.length).toBe(10);
    });

    test('a returned delivery comes again, marked as redelivered', async () => {
      const { transport } = await setup();
      const inbox = new Inbox(({ redelivered }) => (redelivered ? 'ack' : 'return'));
      await transport.consume('normal', inbox.handler, { prefetch: 5 });
      await transport.publish([message()]);
      const deliveries = await inbox.has(2);
      expect(deliveries.map(({ redelivered }) => redelivered)).toEqual([false, true]);
    });

    test('a handler that throws returns its delivery', async () => {
      const { transport } = await setup();
      const inbox = new Inbox(({ redelivered }) => {
        if (!redelivered) throw new Error('a fault of the handler');
        return 'ack';
      });
      await transport.consume('normal', inbox.handler, { prefetch: 5 });
      await transport.publish([message()]);
      expect((await inbox.has(2)).length).toBe(2);
    });

    test('stopping a consumer waits for the deliveries it handed over and takes no new ones', async () => {
      const { transport } = await setup();
      const { promise: answer, resolve } = Promise.withResolvers<Handling>();
      const inbox = new Inbox(() => answer);
      const consumer = await transport.consume('normal', inbox.handler, { prefetch: 1 });
      await transport.publish([message(), message()]);
      await inbox.has(1);
      let hasStopped = false;
      const stopped = consumer.stop().then(() => {
        hasStopped = true;
      });
      await transport.depths();
      expect([hasStopped, consumer.consuming]).toEqual([false, false]);
      resolve('ack');
      await stopped;
      expect(inbox.deliveries.length).toBe(1);
      await expect.poll(() => transport.depths()).toMatchObject({ normal: { ready: 1, consumers: 0 } });
    });

    test('stopping the transport waits for handlers in flight, and their answers count', async () => {
      const { transport, other } = await setup();
      const answers = [Promise.withResolvers<Handling>(), Promise.withResolvers<Handling>()];
      const waiting = answers.map(({ promise }) => promise);
      const inbox = new Inbox(() => waiting.shift() ?? 'ack');
      await other.consume('normal', inbox.handler, { prefetch: 2 });
      await transport.publish([message(), message()]);
      await inbox.has(2);
      let hasStopped = false;
      const stopped = other.stop().then(() => {
        hasStopped = true;
      });
      answers[0]?.resolve('ack');
      await transport.depths();
      expect(hasStopped).toBe(false);
      answers[1]?.resolve('return');
      await stopped;
      await expect.poll(() => transport.depths()).toMatchObject({ normal: { ready: 1, consumers: 0 } });
    });

    test('headers other than those of a task are dropped', async () => {
      const { transport, other } = await setup();
      const inbox = new Inbox();
      await other.consume('normal', inbox.handler, { prefetch: 1 });
      const headers = { 'x-release': 7, 'x-death': 'once', authorization: 'secret' };
      await transport.publish([message('normal', { headers })]);
      expect((await inbox.has(1)).map((delivery) => delivery.headers)).toEqual([{ 'x-release': 7 }]);
    });

    test('several consumers share a queue, and each message goes to one of them', async () => {
      const { transport, other } = await setup();
      const inbox = new Inbox();
      await transport.consume('normal', inbox.handler, { prefetch: 2 });
      await other.consume('normal', inbox.handler, { prefetch: 2 });
      expect((await transport.depths()).normal.consumers).toBe(2);
      const sent = Array.from({ length: 50 }, () => message());
      await transport.publish(sent);
      await inbox.has(50);
      expect(ids(inbox.deliveries).toSorted()).toEqual(ids(sent).toSorted());
    });

    test('a message past its own TTL or its queue’s is not delivered', async () => {
      const { transport } = await setup({ normal: 300 });
      await transport.publish([message('normal'), message('priority', { ttlMs: 300 })]);
      await expect
        .poll(async () => {
          const inbox = new Inbox(() => 'return');
          const consumers = [
            await transport.consume('normal', inbox.handler, { prefetch: 1 }),
            await transport.consume('priority', inbox.handler, { prefetch: 1 }),
          ];
          await Promise.all(consumers.map((consumer) => consumer.stop()));
          const { normal, priority } = await transport.depths();
          return inbox.deliveries.length + normal.ready + priority.ready;
        })
        .toBe(0);
    });

    test('a dead letter is confirmed and delivered to no consumer', async () => {
      const { transport } = await setup();
      const inbox = new Inbox();
      await transport.consume('normal', inbox.handler, { prefetch: 1 });
      await transport.consume('priority', inbox.handler, { prefetch: 1 });
      expect(await transport.publish([message('failed'), message()])).toEqual(['confirmed', 'confirmed']);
      expect((await inbox.has(1)).map(({ queue }) => queue)).toEqual(['normal']);
    });

    test('a body of arbitrary bytes arrives unchanged', async () => {
      const { transport } = await setup();
      const body = new Uint8Array([0, 255, 128, 10, 13]);
      const inbox = new Inbox();
      await transport.consume('priority', inbox.handler, { prefetch: 1 });
      await transport.publish([message('priority', { body })]);
      const [delivery] = await inbox.has(1);
      expect([...(delivery?.body ?? [])]).toEqual([...body]);
    });

    test('ten thousand messages arrive, each once', async () => {
      const { transport, other } = await setup();
      const inbox = new Inbox();
      await other.consume('normal', inbox.handler, { prefetch: 40 });
      const sent = Array.from({ length: 10_000 }, () => message());
      const outcomes = await transport.publish(sent);
      expect(new Set(outcomes)).toEqual(new Set(['confirmed']));
      expect(new Set(ids(await inbox.has(10_000)))).toEqual(new Set(ids(sent)));
      expect(inbox.deliveries.length).toBe(10_000);
    });

    test('stop can be called twice, and without a start', async () => {
      const { transport, unstarted } = await setup();
      for (const each of [transport, unstarted()]) {
        await each.stop();
        await each.stop();
      }
    });
  });
}
