import { expect, test } from 'vitest';
import { WatchedProducer } from '../../../../services/process/watched-producer.ts';
import { readSeeds } from '../../../../services/producer/seeds.ts';
import type { Stores } from '../../../../shared/backends/backends.ts';
import type { Fetcher } from '../../../../shared/ports/fetcher.ts';
import { settingsFrom } from '../../../../shared/settings/settings.ts';
import { FAST_RUN } from '../../../support/builders.ts';
import { LogLines, openEmbedded } from '../../../support/stores/embedded.ts';
import { withMethods } from '../../../support/with-methods.ts';

test('a producer that repeats its recent offers does not end before its run is sealed again', async () => {
  const stores = openEmbedded();
  const held = Promise.withResolvers<void>();
  let opens = 0;
  const runs = withMethods(stores.runs, {
    open: async (...args) => {
      const opened = await stores.runs.open(...args);
      if (++opens > 1) await held.promise;
      return opened;
    },
  });
  const watched = new WatchedProducer({
    settings: settingsFrom({ flag: {}, environment: {}, file: {} }),
    stores: { ...stores, runs } as unknown as Stores,
    fetcher: {} as Fetcher,
    rules: [],
    run: 'r',
    runOptions: FAST_RUN,
    producer: 'p',
    log: new LogLines(),
    startOf: () => '',
    onOffered: () => {},
  });
  const isOpen = async (): Promise<boolean> => (await stores.runs.progress('r'))?.sealed === false;
  let isOver = false;
  const meanwhile = watched
    .meanwhile(await readSeeds(['http://a.test/1']), new AbortController().signal, async () => {
      await expect.poll(isOpen).toBe(false);
      // Redis came back, perhaps without its last second.
      watched.repeatRecent();
    })
    .then(() => {
      isOver = true;
    });
  await expect.poll(() => opens).toBe(2);
  await expect.poll(isOpen).toBe(true);
  expect(isOver).toBe(false);
  held.resolve();
  await meanwhile;
  expect(await isOpen()).toBe(false);
});
