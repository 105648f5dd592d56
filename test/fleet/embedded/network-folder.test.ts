import { expect, onTestFinished, test } from 'vitest';
import { AT_FULL_SPEED } from '../../support/full-speed.ts';
import { openWorkplace } from '../../support/processes/trawl.ts';
import { TestSite } from '../../support/site.ts';

/** Makes `statfs` report a FUSE mount for every folder, in every process. */
const HOOK = `
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
fs.statfsSync = () => ({ type: 0x65735546 });
syncBuiltinESMExports();`;
const ON_FUSE = {
  NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(HOOK)}`,
  RABBITMQ_URL: 'amqp://127.0.0.1:1',
  REDIS_URL: 'redis://127.0.0.1:1',
};

test('in a folder on FUSE, commands of a second terminal are told to wait, and a killed crawl can be resumed', async () => {
  const site = new TestSite({ pages: 40 });
  await site.start();
  onTestFinished(() => site.stop());
  // The crawl goes on as long as this page is not answered.
  let isHeld = true;
  site.on('/page/7', (_, response) => {
    if (!isHeld) response.setHeader('content-type', 'text/html').end('<title>at last</title>');
  });
  const workplace = await openWorkplace(ON_FUSE);
  const crawl = workplace.start(['crawl', site.url('/sitemap.xml'), '--run', 'slow', ...AT_FULL_SPEED]);
  await site.arrival('/page/7');
  const told =
    'trawl: output/trawl.sqlite is on FUSE, where one process at a time can have it open, and another one has: wait until that crawl or command has ended';
  expect(await workplace.run(['status', '--local'])).toEqual({ code: 1, stdout: '', stderr: `${told}\n` });
  expect(await workplace.run(['crawl', site.url('/page/1'), ...AT_FULL_SPEED])).toMatchObject({
    code: 1,
    stderr: `${told}\n`,
  });
  expect((await workplace.run(['status', 'slow'])).stderr).toBe(`${told}. For a run of the fleet, add --no-local\n`);
  crawl.signal('SIGKILL');
  await crawl.ended;
  isHeld = false;
  expect(await workplace.json(['crawl', '--resume'])).toMatchObject({ state: 'finished', discovered: 40, done: 40 });
  expect((await workplace.records('slow')).length).toBe(40);
  expect(await workplace.json(['status', 'slow'])).toMatchObject({ state: 'finished' });
}, 120_000);
