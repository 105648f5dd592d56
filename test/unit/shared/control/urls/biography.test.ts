import { expect, onTestFinished, test } from 'vitest';
import { lookUp } from '../../../../../shared/control/urls/biography.ts';
import { nameOf } from '../../../../../shared/ports/frontier/frontier.ts';
import type { RunOptions } from '../../../../../shared/ports/runs.ts';
import { FAST_RUN } from '../../../../support/builders.ts';
import { openLocalParts } from '../../../../support/stores/local-parts.ts';
import { SteppedClock } from '../../../../support/stores/stepped-clock.ts';

const URL_OF_PAGE = 'http://a.test/lamp';

/** Opens stores in which runs are offered the same page at some steps, and everything released is then done. */
function openArchives() {
  const { database, letters: _, ...stores } = openLocalParts({ clock: new SteppedClock() });
  onTestFinished(() => database.close());
  const offer = async (
    run: string,
    steps: readonly string[],
    { url = URL_OF_PAGE, ...options }: Partial<RunOptions> & { readonly url?: string } = {},
  ): Promise<void> => {
    await stores.runs.open(run, { ...FAST_RUN, ...options }, 'p');
    const offers = steps.map((step) => ({
      ...{ url, host: 'a.test', step, depth: 0, queue: 'normal' as const },
      mark: step === '' ? url : `${step} ${url}`,
    }));
    await stores.frontier.offer(run, offers);
  };
  return {
    offer,
    finish: async (run: string): Promise<void> => {
      const { tasks } = await stores.frontier.release({ limit: 10, window: 1_000, unpaced: false });
      for (const released of tasks) await stores.frontier.settle(run, nameOf(released), { outcome: { kind: 'done' } });
    },
    look: async (url: string, run?: string) => {
      const archives = { stores, records: async () => undefined as never, letters: async () => [] };
      return (await lookUp(url, run, archives)).runs.map(({ run: of, step, place, isMarked }) => [
        ...[of, step, place?.at ?? (isMarked ? 'over' : 'unknown')],
      ]);
    },
  };
}

test('a URL is looked up at each step that a run has come to, in all runs and in one', async () => {
  const { offer, finish, look } = openArchives();
  await offer('one', ['', 'product']);
  await finish('one');
  await offer('two', ['product', 'review']);
  const two = [
    ['two', 'product', 'waiting'],
    ['two', 'review', 'waiting'],
  ];
  expect(await look(URL_OF_PAGE)).toEqual([...two, ['one', undefined, 'over'], ['one', 'product', 'over']]);
  expect(await look(URL_OF_PAGE, 'two')).toEqual(two);
});

test('a run that knows a URL at no step has one chapter, which says so', async () => {
  const { offer, look } = openArchives();
  await offer('one', ['product', 'review']);
  expect(await look('http://a.test/other')).toEqual([]);
  expect(await look('http://a.test/other', 'one')).toEqual([['one', undefined, 'unknown']]);
});

test('a page that another run with the same marks has taken is told only of the run that is asked for', async () => {
  const { offer, finish, look } = openArchives();
  await offer('one', ['product'], { dedup: 'ever' });
  await finish('one');
  await offer('two', ['product', 'review'], { dedup: 'ever' });
  await offer('two', ['product'], { dedup: 'ever', url: 'http://a.test/chair' });
  expect(await look(URL_OF_PAGE)).toEqual([['two', 'review', 'waiting']]);
  expect(await look(URL_OF_PAGE, 'two')).toEqual([
    ['two', 'product', 'over'],
    ['two', 'review', 'waiting'],
  ]);
});
