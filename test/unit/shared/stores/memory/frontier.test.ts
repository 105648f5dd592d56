import { expect, test } from 'vitest';
import { nameOf, type Settlement } from '../../../../../shared/ports/frontier.ts';
import { FAST_RUN } from '../../../../support/builders.ts';
import { EVERYTHING, offerOf, openEmbedded } from '../../../../support/embedded.ts';

test('failed attempts of the last 10,000 tasks are remembered, for a day', async () => {
  const { frontier, runs, clock } = openEmbedded();
  await runs.open('r', FAST_RUN, 'p');
  const failed: Settlement = {
    outcome: { kind: 'failed', reason: 'http_4xx' },
    attempt: { at: 0, worker: 'w-1', reason: 'http_4xx' },
  };
  const marks: string[] = [];
  for (let n = 0; n < 10_001; n += 1) {
    await frontier.offer('r', [offerOf(`http://a.test/${n}`)]);
    const { tasks } = await frontier.release(EVERYTHING);
    for (const released of tasks) {
      marks.push(released.task.mark);
      await frontier.settle('r', nameOf(released), failed);
    }
  }
  const noted = async (mark = ''): Promise<number> => (await frontier.attempts(mark)).length;
  expect([marks.length, await noted(marks[0]), await noted(marks[1]), await noted(marks.at(-1))]).toEqual([
    10_001, 0, 1, 1,
  ]);
  clock.step(24 * 3_600_000);
  expect(await noted(marks.at(-1))).toBe(0);
});
