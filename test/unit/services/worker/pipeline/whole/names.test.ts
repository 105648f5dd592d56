import { expect, onTestFinished, test } from 'vitest';
import { allowing } from '../../../../../support/allowing.ts';
import { openLane } from '../../../../../support/lane.ts';
import { withMethods } from '../../../../../support/with-methods.ts';
import { deliver, setup } from '../../setup.ts';

test('a name is looked up before its gate is asked, for robots.txt and page, so that a slow look-up delays no granted request', async () => {
  const world = await setup();
  const events: string[] = [];
  const fetcher = openLane({
    timeoutMs: 5_000,
    userAgent: 'TrawlBot/0 (test)',
    allowedPrivate: allowing('127.0.0.0/8'),
    resolve: async (host) => {
      events.push(`name of ${host}`);
      return [{ address: '127.0.0.1', family: 4 }];
    },
  });
  onTestFinished(() => fetcher.stop());
  const gate = withMethods(world.gate, {
    ask: async (host, limit, holder) => {
      events.push(`turn at ${host}`);
      return await world.gate.ask(host, limit, holder);
    },
  });
  const run = { hostConcurrency: 2, fetcher, gate };
  const delivery = await deliver(world, `http://site.test:${world.site.port}/page/1`);
  await world.pipeline({ ...run, robots: world.robots(run) }).handle(delivery);
  expect(await world.runs.progress('r')).toMatchObject({ done: 1 });
  const host = `site.test:${world.site.port}`;
  const connecting = 'name of site.test';
  expect(events).toEqual(['name of site.test', `turn at ${host}`, connecting, 'name of site.test', `turn at ${host}`]);
});
