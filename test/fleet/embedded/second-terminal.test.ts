import { expect, onTestFinished, test } from 'vitest';
import { openWorkplace } from '../../support/processes/trawl.ts';
import { TestSite } from '../../support/site.ts';

const SLOWLY = ['--rate', '600/min', '--private-hosts', '127.0.0.0/8', '--robots', 'ignore'];
/** No services are running: a command that needed them would report them. */
const NO_SERVICES = { RABBITMQ_URL: 'amqp://127.0.0.1:1', REDIS_URL: 'redis://127.0.0.1:1' };

async function setup(pages: number) {
  const site = new TestSite({ pages });
  await site.start();
  onTestFinished(() => site.stop());
  const workplace = await openWorkplace(NO_SERVICES);
  const crawl = workplace.start(['crawl', site.url('/sitemap.xml'), '--run', 'slow', ...SLOWLY]);
  await site.arrival('/page/3');
  return { site, workplace, crawl };
}

test('a local crawl can be watched and steered from a second terminal', { timeout: 120_000 }, async () => {
  const { site, workplace, crawl } = await setup(500);
  expect(await workplace.json(['status', 'slow'])).toMatchObject({ run: 'slow', state: 'running', workers: 1 });
  expect(await workplace.json(['status', '--local'])).toMatchObject({ known: 1, open: 1, runs: [{ run: 'slow' }] });
  const { runs } = await workplace.json(['url', site.url('/page/499'), '--run', 'slow']);
  expect(runs).toMatchObject([{ run: 'slow', place: { at: 'waiting' } }]);
  expect(await workplace.json(['pause', 'slow', '--reason', 'let me see'])).toMatchObject({ is: 'paused' });
  // The pages in hand are finished, and nothing more is requested.
  await expect.poll(async () => (await workplace.json(['status', 'slow'])).inFlight).toBe(0);
  const asked = site.requests.length;
  expect(await workplace.json(['status', 'slow'])).toMatchObject({ state: 'paused', pauseReason: 'let me see' });
  expect(site.requests.length).toBe(asked);
  expect(await workplace.json(['resume', 'slow'])).toMatchObject({ was: 'paused', is: 'running' });
  await expect.poll(() => site.requests.length).toBeGreaterThan(asked);
  expect((await workplace.run(['pause', '--all', '--local'])).stdout).toBe(
    '1 open run: paused. Resume with: trawl resume --all --local\n',
  );
  expect(await workplace.json(['resume', '--all', '--local'])).toMatchObject({ was: 'paused', is: 'running' });
  expect(await workplace.json(['pause', '--local', '--host', site.host])).toMatchObject({ is: { byHand: true } });
  expect(await workplace.json(['resume', '--local', '--host', site.host])).toMatchObject({ was: { paused: true } });
  const first = await workplace.json(['forget', site.url('/page/1'), '--local']);
  expect(first).toEqual({ forgotten: 1, kept: 0 });
  expect(await workplace.json(['cancel', 'slow'])).toMatchObject({ is: 'cancelled' });
  expect((await crawl.ended).stdout).toMatch(/^Run slow cancelled after /);
  const { discovered, done, cancelled, waiting } = await workplace.json(['status', 'slow']);
  expect([waiting, Number(done) + Number(cancelled)]).toEqual([0, discovered]);
});

test('a run whose process was killed can be cancelled', async () => {
  const { workplace, crawl } = await setup(200);
  crawl.signal('SIGKILL');
  await crawl.ended;
  expect(await workplace.json(['cancel', 'slow'])).toMatchObject({ is: 'cancelled', waiting: 0, inFlight: 0 });
  expect(await workplace.run(['crawl', '--resume', 'slow'])).toMatchObject({
    code: 0,
    stderr: 'Run slow is cancelled: nothing left to do.\n',
  });
});

test('an unknown URL, crawl or output folder is reported', async () => {
  const { site, workplace, crawl } = await setup(500);
  const nowhere = site.url('/nowhere');
  expect((await workplace.run(['url', nowhere, '--local'])).stdout).toBe(
    `${nowhere}\nNo crawl on this machine knows it.\nTo see which rule of a run leaves it out: trawl url URL --run RUN\n`,
  );
  expect((await workplace.run(['url', site.url('/page/499'), '--local'])).stdout).toMatch(
    /^\S+\nRun slow \(running\): waits in the normal list/,
  );
  expect(await workplace.run(['status', 'other', '--local'])).toMatchObject({
    code: 1,
    stderr: 'trawl: no crawl other is known here; trawl status --local lists the known ones\n',
  });
  expect(await workplace.run(['status', '--local', '--output-dir', 'nowhere'])).toMatchObject({
    code: 1,
    stderr: 'trawl: there are no crawls in nowhere (OUTPUT_DIR, --output-dir)\n',
  });
  expect(site.requests.length).toBeGreaterThan(0);
  crawl.signal('SIGKILL');
  await crawl.ended;
});
