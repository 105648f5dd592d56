import { expect, test } from 'vitest';
import type { SessionDefinition } from '../../../../../../shared/crawler/around/session.ts';
import { defineCrawler } from '../../../../../../shared/crawler/crawler.ts';
import type { RunOptions } from '../../../../../../shared/ports/runs.ts';
import { withMethods } from '../../../../../support/with-methods.ts';
import { passLoginTries, setup } from '../../setup.ts';

/** A worker whose pages need a login. */
async function world(login: SessionDefinition['login'], run: Partial<RunOptions> = {}) {
  const crawler = defineCrawler({
    name: 'club',
    session: { login },
    steps: { item: { run: ({ page, emit }) => emit({ text: page.text }) } },
  });
  const parts = await setup({ crawler, run });
  const { log, runs } = parts;
  return {
    ...parts,
    /** Lets the three tries of a login pass. */
    async untilPaused(): Promise<void> {
      await passLoginTries(() => log.lines.join('\n'), parts);
      await expect.poll(async () => (await runs.progress('r'))?.state).toBe('paused');
    },
  };
}

test('the reason of a pause has at most 500 characters of the login’s error', async () => {
  const { offer, deliveries, pipeline, runs, untilPaused } = await world(async () => {
    throw new Error('x'.repeat(2_000));
  });
  await offer('/page/1');
  const handled = Promise.all((await deliveries()).map((delivery) => pipeline().handle(delivery)));
  await untilPaused();
  await handled;
  const { pauseReason = '' } = (await runs.progress('r')) ?? {};
  expect(pauseReason.slice('its login failed 3 times: '.length)).toHaveLength(500);
});

test('a page that was admitted before its run was paused does not log in, and waits', async () => {
  let logins = 0;
  const { offer, deliveries, pipeline, frontier, runs, untilPaused } = await world(async () => {
    logins++;
    throw new Error('closed');
  });
  await offer('/page/1', '/page/2');
  const paused = Promise.withResolvers<void>();
  const late = withMethods(frontier, {
    admit: async (...call) => {
      const admission = await frontier.admit(...call);
      if (call[1].mark.endsWith('/2')) await paused.promise;
      return admission;
    },
  });
  const working = pipeline({ frontier: late });
  const handled = Promise.all((await deliveries()).map((delivery) => working.handle(delivery)));
  await untilPaused();
  paused.resolve();
  await handled;
  expect(logins).toBe(3);
  expect(await runs.progress('r')).toMatchObject({ state: 'paused', waiting: 2, inFlight: 0, failed: 0 });
});

test('a page that failed after a new login gets another one with its next attempt', async () => {
  let logins = 0;
  const { site, offer, deliveries, pipeline, clock, runs } = await world(
    async () => {
      logins++;
    },
    { maxAttempts: 2 },
  );
  site.on('/members', (_, response) => response.writeHead(401).end());
  await offer('/members');
  const working = pipeline();
  const seen: number[] = [];
  for (let attempt = 1; attempt <= 2; attempt++) {
    for (const delivery of await deliveries()) await working.handle(delivery);
    for (const delivery of await deliveries()) await working.handle(delivery);
    seen.push(logins);
    clock.step(600_000);
  }
  expect(seen).toEqual([2, 4]);
  expect(await runs.progress('r')).toMatchObject({ failed: 1, reasons: { failed: { step: 1 } } });
});

test('a request that a login has not awaited is aborted when the login has ended, and no other is made', async () => {
  const left: Promise<unknown>[] = [];
  const { site, offer, deliveries, pipeline, runs } = await world(async ({ get }) => {
    const forgotten = get(site.url('/silent'));
    left.push(forgotten.catch(String), forgotten.catch(() => get(site.url('/page/3'))).catch(String));
    await get(site.url('/page/1'));
  });
  site.on('/silent', () => {});
  await offer('/page/2');
  for (const delivery of await deliveries()) await pipeline().handle(delivery);
  expect(await runs.progress('r')).toMatchObject({ done: 1 });
  expect(await Promise.all(left)).toEqual([
    expect.stringContaining('/silent: The request was aborted'),
    expect.stringContaining('the login has ended: await all its requests'),
  ]);
  expect(site.count('/page/3')).toBe(0);
});
