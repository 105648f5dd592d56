import { expect, test } from 'vitest';
import { nameOf, type Settlement } from '../../../../../shared/ports/frontier/frontier.ts';
import { MOST_KEPT } from '../../../../../shared/stores/sqlite/moves/attempt-notes.ts';
import { FAST_RUN } from '../../../../support/builders.ts';
import { EVERYTHING, offerOf } from '../../../../support/stores/embedded.ts';
import { openLocalParts } from '../../../../support/stores/local-parts.ts';
import { SteppedClock } from '../../../../support/stores/stepped-clock.ts';

test('failed attempts are remembered for a day, and those of all tasks together are bounded: the oldest go', async () => {
  const clock = new SteppedClock();
  const { frontier, runs, store } = openLocalParts({ clock });
  await runs.open('r', FAST_RUN, 'p');
  const failed: Settlement = {
    outcome: { kind: 'failed', reason: 'http_4xx' },
    attempt: { at: 0, worker: 'w-1', reason: 'http_4xx' },
  };
  const fail = async (n: number): Promise<string> => {
    await frontier.offer('r', [offerOf(`http://a.test/${n}`)]);
    const [released] = (await frontier.release(EVERYTHING)).tasks;
    if (released === undefined) throw new Error('nothing was released');
    await frontier.settle('r', nameOf(released), failed);
    return released.task.mark;
  };
  const noted = async (mark: string): Promise<number> => (await frontier.attempts(mark)).length;
  const [first, second] = [await fail(1), await fail(2)];
  await store.move(({ database, now }) =>
    database.run('INSERT INTO attempts (id, mark, at, note) VALUES (?, ?, ?, ?)', MOST_KEPT, 'another', now, '{}'),
  );
  const last = await fail(3);
  expect([await noted(first), await noted(second), await noted(last)]).toEqual([0, 1, 1]);
  clock.step(24 * 3_600_000);
  expect(await noted(last)).toBe(0);
});
