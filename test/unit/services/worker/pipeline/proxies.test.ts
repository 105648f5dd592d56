import { expect, test } from 'vitest';
import { openProxied } from '../../../../support/proxies/proxied.ts';
import { setup } from '../setup.ts';

test('while no proxy can be used, a page waits without counting an attempt, and its slot rests', async () => {
  const { pipeline, offer, deliveries, site, runs, clock, letters, sink, log, frontier } = await setup({
    run: { maxAttempts: 1 },
  });
  const { fetcher, clock: resting, revive } = await openProxied(2);
  await offer('/page/1');
  const worker = pipeline({ fetcher });
  const rests: number[] = [];
  for (let n = 0; n < 3; n++) {
    const [delivery] = await deliveries();
    if (delivery === undefined) throw new Error('expected it to come again');
    const startedAt = clock.now();
    const handled = worker.handle(delivery);
    await stepUntil(handled, clock);
    rests.push(clock.now() - startedAt);
    expect(await handled).toBe('ack');
  }
  for (const rest of rests) expect(rest).toBeGreaterThanOrEqual(2_000);
  expect([site.requests, sink.records, await letters()]).toEqual([[], [], []]);
  expect(await runs.progress('r')).toMatchObject({ waiting: 1, failed: 0 });
  expect(log.lines[0]).toMatch(/^info: defer r +No proxy can be used: http:\/\/127\.0\.0\.1:\d+ can't be connected to/);
  await revive();
  resting.step(60_000);
  const [delivery] = await deliveries();
  if (delivery === undefined) throw new Error('expected it to come again');
  expect(await worker.handle(delivery)).toBe('ack');
  expect(sink.records).toMatchObject([{ outcome: 'done', attempt: 1 }]);
  expect(await frontier.attempts(site.url('/page/1'))).toEqual([]);
});

/** Steps the clock until `done` has settled. */
async function stepUntil(done: Promise<unknown>, clock: { step(ms: number): void }): Promise<void> {
  let isDone = false;
  const finished = done.finally(() => {
    isDone = true;
  });
  while (!isDone) {
    clock.step(100);
    await new Promise((resolve) => setImmediate(resolve));
  }
  await finished;
}
