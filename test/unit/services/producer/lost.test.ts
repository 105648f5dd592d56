import { Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { RunLostError } from '../../../../services/producer/run-lost.ts';
import type { Seed } from '../../../../services/producer/seeds.ts';
import { withMethods } from '../../../support/with-methods.ts';
import { openSite, pages, serve, urlset } from './documents.ts';
import { RUN_OPTIONS, setup } from './setup.ts';

const maybe = (url: string): Seed => ({ kind: 'maybe_sitemap', url });

describe('a run that the store has lost', () => {
  /** A producer that has read its first URL, and a second store that replaces the first when `lose` is called. */
  async function setupLosing(isDone: boolean) {
    const [first, second] = [setup(), setup()];
    let { frontier, runs } = first.parts;
    const parts = {
      frontier: withMethods(frontier, { offer: (...args) => frontier.offer(...args) }),
      runs: withMethods(runs, {
        open: (...args) => runs.open(...args),
        seal: (...args) => runs.seal(...args),
        progress: (...args) => runs.progress(...args),
      }),
    };
    const input = new Readable({ read() {} });
    const producer = first.produce({}, { input, ...parts });
    const producing = producer.produce([{ kind: 'input' }]);
    input.push('https://example.com/1\n');
    await expect.poll(() => producer.progress().accepted).toBe(1);
    if (isDone) {
      input.push(null);
      await producing;
    }
    return {
      ...{ first, second, producer, producing, input },
      lose: async () => {
        await first.clock.sleep(3_001);
        ({ frontier, runs } = second.parts);
      },
    };
  }

  test('ends its producer in state unknown and is not created again', async () => {
    const { second, producer, producing, lose } = await setupLosing(false);
    await lose();
    await Promise.all([
      expect(producer.repeatRecent()).rejects.toThrow(RunLostError),
      expect(producing).rejects.toThrow('the store has lost the run r: its progress is unknown.'),
    ]);
    expect(producer.progress().state).toBe('unknown');
    expect(await second.parts.runs.progress('r')).toBeUndefined();
  });

  test('is reported as lost even after everything was offered', async () => {
    const { second, producer, lose } = await setupLosing(true);
    await lose();
    await expect(producer.repeatRecent()).rejects.toThrow(RunLostError);
    expect(producer.progress().state).toBe('unknown');
    expect(await second.parts.runs.progress('r')).toBeUndefined();
  });

  test('takes no offers or seal of its producer, even if another run of its name was opened', async () => {
    for (const ends of [false, true]) {
      const { second, producer, producing, input, lose } = await setupLosing(false);
      await lose();
      await second.parts.runs.open('r', RUN_OPTIONS, 'other');
      input.push(ends ? null : 'https://example.com/2\n');
      await expect(producing).rejects.toThrow(RunLostError);
      expect(producer.progress().state).toBe('unknown');
      expect(await second.parts.runs.progress('r')).toMatchObject({ discovered: 0, producers: { open: 1 } });
    }
  });

  test('is restored and takes the refused offer if it was created just before', async () => {
    for (const isEnd of [false, true]) {
      const { first, second, producer, producing, input, lose } = await setupLosing(false);
      producer.noteAway();
      await lose();
      if (!isEnd) input.push('https://example.com/2\n');
      await expect.poll(() => producer.progress().accepted).toBe(isEnd ? 1 : 2);
      input.push(null);
      expect(await producing).toMatchObject({ state: 'done', accepted: isEnd ? 1 : 2, known: 0 });
      expect(await second.parts.runs.progress('r')).toMatchObject({
        discovered: isEnd ? 1 : 2,
        duplicate: 0,
        sealed: true,
      });
      expect((await first.parts.runs.progress('r'))?.sealed).toBe(false);
    }
  });

  test('is restored if it was created in the lost seconds, however long the store was away', async () => {
    const { first, second, producer, lose } = await setupLosing(true);
    producer.noteAway();
    await first.clock.sleep(600_000);
    await lose();
    await producer.repeatRecent();
    expect(await second.parts.runs.progress('r')).toMatchObject({ discovered: 1, duplicate: 0, sealed: true });
  });
});

test('a lost producer is forgotten once another has read the same input to its end, but not after a different input', async () => {
  const site = await openSite();
  const { produce, parts, clock } = setup();
  const [one, two] = [maybe(serve(site, '/1.xml', urlset(pages(2)))), maybe(serve(site, '/2.xml', urlset(pages(3))))];
  const stop = new AbortController();
  const input = new Readable({ read() {} });
  const lost = produce({ producer: 'lost' }, { input }).produce([one, two, { kind: 'input' }], stop.signal);
  await expect.poll(async () => (await parts.runs.progress('r'))?.discovered).toBe(3);
  stop.abort();
  await lost;
  const begun = new AbortController();
  site.on('/held.xml', () => begun.abort());
  const held = maybe(site.url('/held.xml'));
  expect(await produce({ producer: 'held' }).produce([one, held], begun.signal)).toMatchObject({ state: 'stopped' });
  await clock.sleep(61_000);
  await produce({ producer: 'q' }).produce([one]);
  expect((await parts.runs.progress('r'))?.producers).toMatchObject({ open: 0, lost: 2 });
  serve(site, '/held.xml', urlset(pages(1)));
  await produce({ producer: 's' }).produce([held, one]);
  // Whether another pipe holds the same input can't be known.
  expect((await parts.runs.progress('r'))?.producers).toMatchObject({ lost: 1, silent: [{ id: 'lost' }] });
});
