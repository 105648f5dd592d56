import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { Link, StoreEvents } from '../../../../services/api/link.ts';
import { Offers } from '../../../../services/api/offers.ts';
import { PRODUCER_LEASE_MS } from '../../../../shared/ports/runs.ts';
import { silentLog } from '../../../../shared/runtime/logger.ts';
import { settingsFrom } from '../../../../shared/settings/settings.ts';
import { FAST_RUN } from '../../../support/builders.ts';
import { openLocalParts } from '../../../support/stores/local-parts.ts';
import { SteppedClock } from '../../../support/stores/stepped-clock.ts';

/** Offers over a store, both with a stepped clock. */
async function setup() {
  const clock = new SteppedClock();
  const stores = openLocalParts({ clock });
  const asked = { times: 0, answered: 0 };
  const watching: StoreEvents[] = [];
  const link = {
    withStores: async (action: (stores: never) => Promise<unknown>) => {
      asked.times++;
      return await action(stores as never).finally(() => asked.answered++);
    },
    watchStore: (events: StoreEvents) => {
      watching.push(events);
      return () => {};
    },
  } as unknown as Link;
  const settings = settingsFrom({ flag: {}, environment: {}, file: {} });
  const offers = new Offers({ settings, link, clock, log: silentLog });
  await offers.start();
  onTestFinished(async () => {
    await offers.stop();
    stores.database.close();
  });
  /** Steps a second after another, never while the store is asked. */
  const step = async (ms: number): Promise<void> => {
    for (let passed = 0; passed < ms; passed += 1_000) {
      clock.step(1_000);
      await expect.poll(() => asked.answered, { interval: 1 }).toBe(asked.times);
    }
  };
  const producersOf = async (run: string): Promise<object | undefined> => {
    const { producers } = (await stores.runs.progress(run)) ?? {};
    return producers && { open: producers.open, lost: producers.lost };
  };
  /** The store goes away, and comes back; resolves once what was offered has been repeated. */
  const lose = async (): Promise<void> => {
    for (const { lost, restored } of watching) {
      lost?.();
      restored?.();
    }
    await offers.stop();
  };
  return { offers, stores, step, producersOf, lose };
}

test('a run waits for offers for as long as the API lives; other producers that go silent are lost', async () => {
  const { offers, stores, step, producersOf } = await setup();
  await offers.open('waits', FAST_RUN, stores as never);
  await offers.open('sealed', FAST_RUN, stores as never);
  await stores.runs.seal('sealed');
  await stores.runs.open('other', FAST_RUN, 'p');
  await step(3 * PRODUCER_LEASE_MS);
  expect(await producersOf('waits')).toEqual({ open: 1, lost: 0 });
  expect(await producersOf('sealed')).toEqual({ open: 0, lost: 0 });
  expect(await producersOf('other')).toEqual({ open: 0, lost: 1 });
  await offers.stop();
  await step(2 * PRODUCER_LEASE_MS);
  expect(await producersOf('waits')).toEqual({ open: 0, lost: 1 });
});

test('so does a run after which a thousand others were opened', async () => {
  const { offers, stores, step, producersOf } = await setup();
  await offers.open('waits', FAST_RUN, stores as never);
  for (let n = 0; n < 1_000; n++) await stores.runs.open(`later-${n}`, FAST_RUN, 'p');
  await step(2 * PRODUCER_LEASE_MS);
  expect(await producersOf('waits')).toEqual({ open: 1, lost: 0 });
});

test('a crawler named in the store never makes the API load a file', async () => {
  const { offers, stores } = await setup();
  const folder = await mkdtemp(join(tmpdir(), 'trawl-offers-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const crawler = join(folder, 'chosen.mjs');
  await writeFile(crawler, 'globalThis.wasLoaded = true;');
  await stores.runs.open('r', { ...FAST_RUN, crawler }, 'p');
  expect(await offers.offer('r', ['http://a.test/'])).toMatchObject({ discovered: 1 });
  expect('wasLoaded' in globalThis).toBe(false);
});

test('the last offer seals a run, unless it has other producers', async () => {
  const { offers, stores } = await setup();
  await offers.open('r', FAST_RUN, stores as never);
  expect(await offers.offer('r', ['http://a.test/'])).toEqual({ run: 'r', discovered: 1, duplicate: 0, malformed: 0 });
  expect(await offers.offer('r', ['http://a.test/1'], true)).toMatchObject({ discovered: 1, sealed: true });
  expect(await offers.offer('r', [], true)).toMatchObject({ discovered: 0, sealed: true });
  await expect(offers.offer('r', ['http://a.test/2'], true)).rejects.toThrow('run r is sealed: it takes no more URLs');
  await stores.runs.open('shared', FAST_RUN, 'p');
  await offers.open('shared', FAST_RUN, stores as never);
  expect(await offers.offer('shared', [], true)).toMatchObject({ sealed: false });
  await stores.runs.seal('shared', 'p');
  expect(await stores.runs.standing('shared')).toMatchObject({ state: 'finished' });
});

test('a run sealed by its last offer stays sealed when the store comes back without its last second', async () => {
  const { offers, stores, lose } = await setup();
  await offers.open('r', FAST_RUN, stores as never);
  const { incarnation = '' } = (await stores.runs.progress('r')) ?? {};
  await offers.offer('r', ['http://a.test/'], true);
  // The store has lost the seal, so the run's producer is open again.
  await stores.runs.open('r', FAST_RUN, 'api-offers', { incarnation });
  await lose();
  expect((await stores.runs.progress('r'))?.sealed).toBe(true);
});
