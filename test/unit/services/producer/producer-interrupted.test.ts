import { Readable } from 'node:stream';
import { expect, onTestFinished, test } from 'vitest';
import { RunClosedError } from '../../../../services/producer/run-closed.ts';
import { SteppedClock } from '../../../support/stores/stepped-clock.ts';
import { withMethods } from '../../../support/with-methods.ts';
import { maybe, openSite, pages, serve, urlset } from './documents.ts';
import { setup } from './setup.ts';

test('cancelling a run ends its producer with an error that says so', async () => {
  const { produce, parts } = setup();
  const input = new Readable({ read() {} });
  const producer = produce({}, { input });
  const producing = producer.produce([{ kind: 'input' }]);
  input.push('https://example.com/1\n');
  await expect.poll(() => producer.progress().accepted).toBe(1);
  await parts.runs.cancel('r');
  input.push('https://example.com/2\n');
  input.push('https://example.com/3\n');
  await expect(producing).rejects.toThrow(new RunClosedError('r', 'cancelled'));
  expect(producer.progress()).toMatchObject({ state: 'stopped', accepted: 1 });
  await expect(produce().produce([])).rejects.toThrow('run r takes no URLs: it is cancelled');
});

test('a stopped producer leaves the run open, so that it counts as lost', async () => {
  const { produce, parts, clock } = setup();
  const stop = new AbortController();
  const input = new Readable({ read() {} });
  const producer = produce({}, { input });
  const producing = producer.produce([{ kind: 'input' }], stop.signal);
  input.push('https://example.com/1\n');
  await expect.poll(() => producer.progress().accepted).toBe(1);
  stop.abort();
  expect(await producing).toMatchObject({ state: 'stopped', accepted: 1 });
  await clock.sleep(61_000);
  expect(await parts.runs.progress('r')).toMatchObject({ sealed: false, producers: { open: 0, lost: 1 } });
  expect(await produce().produce([], stop.signal)).toMatchObject({ state: 'stopped' });
});

test('a producer waits for a full store and stops reading meanwhile', async () => {
  const site = await openSite();
  const { produce, parts } = setup();
  let isFull = true;
  const frontier = withMethods(parts.frontier, {
    offer: async (...args) => (isFull ? { refused: 'full' } : await parts.frontier.offer(...args)),
  });
  let served = 0;
  site.on('/s.xml', async (_, response) => {
    response.write('<urlset>');
    for (let n = 0; n < 2_000 && !response.destroyed; n++) {
      const chunk = urlset(pages(100, `https://example.com/${n}-`));
      served++;
      if (!response.write(chunk)) await new Promise((resolve) => response.once('drain', resolve));
    }
    response.end('</urlset>');
  });
  const clock = new SteppedClock();
  const producer = produce({}, { frontier, clock });
  const producing = producer.produce([maybe(site.url('/s.xml'))]);
  await expect.poll(() => producer.progress().state).toBe('waiting: store is full');
  expect(producer.progress().source).toBe(site.url('/s.xml'));
  // Once the buffers of the sockets are full, the server waits too.
  let before = -1;
  const isStuck = (): boolean => {
    const isSame = served === before;
    before = served;
    return isSame;
  };
  await expect.poll(isStuck, { interval: 200, timeout: 4_000 }).toBe(true);
  expect(served).toBeLessThan(1_900);
  isFull = false;
  clock.step(1_000);
  expect(await producing).toMatchObject({ state: 'done', accepted: 200_000 });
}, 20_000);

test('many page seeds are offered in batches, not one by one', async () => {
  const { produce, parts } = setup();
  let offers = 0;
  const frontier = withMethods(parts.frontier, {
    offer: async (...args) => {
      offers++;
      return await parts.frontier.offer(...args);
    },
  });
  const seeds = pages(2_000).map((url) => ({ kind: 'page', url }) as const);
  expect(await produce({}, { frontier }).produce(seeds)).toMatchObject({ state: 'done', offered: 2_000 });
  expect(offers).toBeLessThan(100);
});

test('a producer keeps sending its beat while it waits for input', async () => {
  const { produce, parts } = setup();
  let beats = 0;
  const runs = withMethods(parts.runs, { beat: async () => void beats++ });
  const input = new Readable({ read() {} });
  const producing = produce({ beatMs: 1 }, { input, runs }).produce([{ kind: 'input' }]);
  await expect.poll(() => beats).toBeGreaterThan(2);
  input.push(null);
  expect(await producing).toMatchObject({ state: 'done' });
});

test('a store that lost its last seconds gets the recent offers again, and the run with them', async () => {
  const first = setup();
  const second = setup();
  let { frontier, runs } = first.parts;
  const parts = {
    frontier: withMethods(frontier, { offer: (...args) => frontier.offer(...args) }),
    runs: withMethods(runs, { open: (...args) => runs.open(...args), seal: (...args) => runs.seal(...args) }),
  };
  const input = Readable.from([Buffer.from(`${pages(2_500).join('\n')}\nno url`)]);
  const producer = first.produce({}, { input, ...parts });
  await producer.produce([{ kind: 'input' }]);
  ({ frontier, runs } = second.parts);
  await producer.repeatRecent();
  await producer.repeatRecent();
  expect(await second.parts.runs.progress('r')).toMatchObject({ discovered: 2_501, duplicate: 0, sealed: true });
  expect(producer.progress()).toMatchObject({ accepted: 2_501, known: 0 });
});

test('an error of the frontier ends the producer and closes its connections', async () => {
  const site = await openSite();
  const { produce, parts } = setup();
  const frontier = withMethods(parts.frontier, {
    offer: async () => {
      throw new Error('the connection is gone');
    },
  });
  const seeds = [maybe(serve(site, '/s.xml', urlset(pages(5_000))))];
  await expect(produce({}, { frontier }).produce(seeds)).rejects.toThrow('the connection is gone');
  expect(await parts.runs.progress('r')).toMatchObject({ sealed: false });
  onTestFinished(() => site.disconnection());
});
