import { expect, test } from 'vitest';
import { MINUTE_MS } from '../../../../../../shared/task/durations.ts';
import { writeMessage } from '../../../../../../shared/task/task/message.ts';
import { idOf } from '../../../../../../shared/task/task/task.ts';
import { EVERYTHING } from '../../../../../support/stores/embedded.ts';
import { deliveryOf, setup } from '../../setup.ts';

/** A host whose nine pages all answer with one status. `ask` works on some and returns the host as reports show it. */
async function answering(status: number) {
  const world = await setup();
  let now = status;
  for (let n = 1; n <= 9; n++) world.site.on(`/${n}`, (_, response) => void response.writeHead(now).end());
  await world.offer(...Array.from({ length: 9 }, (_, n) => `/${n + 1}`));
  const pipeline = world.pipeline();
  return {
    ...world,
    answers: (other: number) => {
      now = other;
    },
    async ask(count: number) {
      const { tasks } = await world.frontier.release({ ...EVERYTHING, limit: count });
      for (const { task, release } of tasks)
        await pipeline.handle(deliveryOf(writeMessage(task), { id: idOf(task), release }));
      return (await world.runs.hosts('r', 1))[0];
    },
  };
}

test('a host that answers only 502 is reported unreachable, and recovers after one healthy answer', async () => {
  const { ask, answers, clock } = await answering(502);
  expect(await ask(5)).toMatchObject({
    isUnreachable: true,
    reason: '5 answers of 5xx in a row',
    trouble: { kind: 'answered', reason: 'HTTP 502' },
  });
  clock.step(2 * MINUTE_MS);
  answers(200);
  const whole = await ask(1);
  expect(whole).toMatchObject({ isUnreachable: false, pausedMs: 0 });
  expect(whole).not.toHaveProperty('trouble');
});

test('a host that answers 503 without Retry-After gets a longer interval', async () => {
  const { ask, runs } = await answering(503);
  const [before] = await runs.hosts('r', 1);
  expect(before?.intervalMs).toBe(0);
  expect((await ask(1))?.intervalMs).toBeGreaterThan(0);
});
