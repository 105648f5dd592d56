import { setTimeout } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { MINUTE_MS } from '../../../../../shared/task/durations.ts';
import { writeMessage } from '../../../../../shared/task/task/message.ts';
import { idOf } from '../../../../../shared/task/task/task.ts';
import { EVERYTHING, settled } from '../../../../support/stores/embedded.ts';
import { deliveryOf, setup } from '../setup.ts';

const SLOTS = 32;

test('twenty pages that always answer 429 fail without holding up the other pages of their host for long', async () => {
  const world = await setup();
  const { frontier, runs, clock, site } = world;
  site.on('/always-429', (_, response) => response.writeHead(429).end());
  const paths = Array.from({ length: 220 }, (_, i) =>
    i % 11 === 5 ? `/always-429?${i}` : `/page/${1 + (i % 50)}?${i}`,
  );
  await world.offer(...paths);
  await runs.seal('r', 'p');
  const pipeline = world.pipeline();
  const began = clock.now();
  const doneAt: number[] = [];
  const inHand = new Set<Promise<unknown>>();
  for (;;) {
    const progress = await runs.progress('r');
    while (doneAt.length < (progress?.done ?? 0)) doneAt.push(clock.now() - began);
    if (progress?.state === 'finished' || clock.now() - began > 60 * MINUTE_MS) break;
    const { tasks } = await frontier.release({ ...EVERYTHING, limit: SLOTS - inHand.size });
    for (const { task, release } of tasks) {
      const delivery = deliveryOf(writeMessage(task), { id: idOf(task), release });
      const handled = pipeline.handle(delivery).finally(() => inHand.delete(handled));
      inHand.add(handled);
    }
    // The site answers in its own time.
    await Promise.race([Promise.all(inHand), setTimeout(1)]);
    clock.step(inHand.size > 0 ? 50 : 500);
    await settled();
  }
  expect(doneAt.at(-1), 'all others are fetched').toBeLessThan(3 * MINUTE_MS);
  expect(clock.now() - began, 'they are given up').toBeLessThan(20 * MINUTE_MS);
  expect(await runs.progress('r')).toMatchObject({
    state: 'finished',
    done: 200,
    failed: 20,
    reasons: { failed: { http_4xx: 20 } },
  });
});
