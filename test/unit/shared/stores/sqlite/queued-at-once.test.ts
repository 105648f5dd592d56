import { expect, test } from 'vitest';
import { nameOf } from '../../../../../shared/ports/frontier/frontier.ts';
import { FAST_RUN } from '../../../../support/builders.ts';
import { POLICY } from '../../../../support/policy.ts';
import { EVERYTHING, offerOf } from '../../../../support/stores/embedded.ts';
import { openLocalParts } from '../../../../support/stores/local-parts.ts';
import { SteppedClock } from '../../../../support/stores/stepped-clock.ts';

const MINUTE_MS = 60_000;

/** A released page of a run `r`, in a store of one process. */
async function setup(queuesAtOnce: boolean, deadlineMs?: number) {
  const clock = new SteppedClock();
  const { frontier, runs, biographer } = openLocalParts({ clock, queuesAtOnce });
  await runs.open('r', FAST_RUN, 'p');
  const mark = 'http://a.test/1';
  const offer = offerOf(mark, deadlineMs === undefined ? {} : { deadlineMs });
  await frontier.offer('r', [offer]);
  const release = async () => (await frontier.release(EVERYTHING)).tasks;
  const place = async () => (await biographer.trace('r', { mark, host: 'a.test' }))?.place?.at;
  const reapedAfter = async (ms: number): Promise<number> => {
    clock.step(ms);
    return await frontier.reap();
  };
  return { clock, frontier, release, place, reapedAfter };
}

test('a task is queued as soon as it is released, and has the lease of its queue', async () => {
  const { release, place, reapedAfter } = await setup(true);
  await release();
  expect(await place()).toBe('queued');
  expect(await reapedAfter(POLICY.normalTtlMs + 5 * MINUTE_MS - 1)).toBe(0);
  expect([await reapedAfter(1), await place()]).toEqual([1, 'waiting']);
});

test('if the queue is elsewhere, a task counts as publishing until it is reported as queued', async () => {
  const { frontier, release, place, reapedAfter } = await setup(false);
  const [task] = await release();
  expect(await place()).toBe('publishing');
  expect(await reapedAfter(MINUTE_MS)).toBe(1);
  const [again] = await release();
  await frontier.queued(
    'r',
    [task, again].map((each) => nameOf(each ?? expect.fail())),
  );
  expect([await place(), await reapedAfter(MINUTE_MS)]).toEqual(['queued', 0]);
});

test('a task released only to fail, past its deadline, comes back soon if nobody settles it', async () => {
  const { clock, release, place, reapedAfter } = await setup(true, 1_000);
  clock.step(1_001);
  const [task] = await release();
  expect([task?.verdict, await place()]).toEqual(['deadline', 'publishing']);
  expect(await reapedAfter(MINUTE_MS)).toBe(1);
});
