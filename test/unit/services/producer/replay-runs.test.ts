import { expect, test } from 'vitest';
import { findReplayRun, replayIdOf } from '../../../../services/producer/replay-runs.ts';
import { REPLAYER } from '../../../../shared/ports/runs.ts';
import { RUN_ID } from '../../../../shared/task/task/task.ts';
import { FAST_RUN } from '../../../support/builders.ts';
import { openEmbedded } from '../../../support/stores/embedded.ts';

// biome-ignore format: a table
test.each([
  ['mine', 1, 'mine-replay-1'],
  ['mine-replay-1', 12, 'mine-replay-1-replay-12'],
  ['a'.repeat(54), 1, `${'a'.repeat(54)}-replay-1`],
])('the id of the replay of %s with number %i is %s', (origin, number, id) => {
  expect(replayIdOf(origin, number)).toBe(id);
});

test('replay ids that would be too long are cut and still differ', () => {
  const [one, other] = ['x', 'y'].map((end) => replayIdOf(`${'a'.repeat(62)}${end}`, 3));
  for (const id of [one, other]) expect(id).toMatch(RUN_ID);
  expect(one).not.toBe(other);
  expect(one).toMatch(/-replay-3$/);
});

test('a replay gets a new run, or joins an interrupted one', async () => {
  const { runs } = openEmbedded();
  const find = () => findReplayRun('mine', runs, FAST_RUN, { intervalMs: 9 });
  expect(await find()).toMatchObject({
    run: 'mine-replay-1',
    isForgotten: true,
    isJoined: false,
    options: { crawler: 'page' },
  });
  await runs.open('mine', { ...FAST_RUN, crawler: 'headlines', maxAttempts: 7 }, 'p');
  const found = { run: 'mine-replay-1', origin: 'mine', earlier: [], isForgotten: false, isJoined: false };
  const options = { ...FAST_RUN, crawler: 'headlines', maxAttempts: 7, intervalMs: 9 };
  expect(await find()).toEqual({ ...found, options });
  await runs.open('mine-replay-1', FAST_RUN, REPLAYER);
  expect(await find(), 'interrupted: it keeps its options').toMatchObject({
    run: 'mine-replay-1',
    isJoined: true,
    options: FAST_RUN,
  });
  await runs.pause('mine-replay-1');
  expect(await find()).toMatchObject({ run: 'mine-replay-1', isJoined: true });
  await runs.seal('mine-replay-1', REPLAYER);
  expect(await find(), 'sealed').toMatchObject({
    run: 'mine-replay-2',
    isJoined: false,
    earlier: ['mine-replay-1'],
  });
  await runs.open('mine-replay-2', FAST_RUN, REPLAYER);
  await runs.cancel('mine-replay-2');
  expect(await find(), 'cancelled').toMatchObject({
    run: 'mine-replay-3',
    earlier: ['mine-replay-1', 'mine-replay-2'],
  });
});
