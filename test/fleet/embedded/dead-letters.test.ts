import { expect, onTestFinished, test } from 'vitest';
import { openWorkplace, type Workplace } from '../../support/processes/trawl.ts';
import { TestSite } from '../../support/site.ts';

const FAST = ['--rate', 'none', '--private-hosts', '127.0.0.0/8', '--robots', 'ignore'];
/** No services are running: a command that needed them would report them. */
const NO_SERVICES = { RABBITMQ_URL: 'amqp://127.0.0.1:1', REDIS_URL: 'redis://127.0.0.1:1' };

async function setup(pages = 3) {
  const site = new TestSite({ pages });
  await site.start();
  onTestFinished(() => site.stop());
  const mended = { is: false };
  for (const path of ['/a', '/b']) {
    site.on(path, (_, response) => {
      response.statusCode = mended.is ? 200 : 404;
      response.setHeader('content-type', 'text/html').end('<title>well</title>');
    });
  }
  return { site, mended, workplace: await openWorkplace(NO_SERVICES) };
}

/** Crawls two pages that fail, one that doesn't, and a malformed URL. */
async function crawl(workplace: Workplace, site: TestSite, ...flags: string[]): Promise<void> {
  const seeds = `${site.url('/page/1')}\n${site.url('/a')}\n${site.url('/b')}\nno-url\n`;
  const { code, stderr } = await workplace.run(['crawl', '-', '--run', 'mine', ...FAST, ...flags], seeds);
  if (code !== 0) throw new Error(stderr);
}

async function urlsOf(workplace: Workplace, ...flags: string[]): Promise<(string | undefined)[]> {
  const { code, stdout, stderr } = await workplace.run(['dlq', 'export', '--local', ...flags]);
  if (code !== 0) throw new Error(stderr);
  return stdout
    .split('\n')
    .flatMap((line) => (line === '' ? [] : [JSON.parse(line).url]))
    .toSorted();
}

test('the dlq commands list, show, export and purge the letters of a local crawl without services', async () => {
  const { site, workplace } = await setup();
  await crawl(workplace, site);
  const all = ['no-url', site.url('/a'), site.url('/b')].toSorted();
  const listed = await workplace.json(['dlq', 'list', '--run', 'mine']);
  expect(listed.map(({ url }: { url: string }) => url).toSorted()).toEqual(all);
  const letter = listed.find(({ url }: { url: string }) => url === site.url('/a'));
  expect(letter).toMatchObject({ run: 'mine', reason: 'http_4xx', status: 404, attempts: [{ status: 404 }] });
  expect((await workplace.run(['dlq', 'show', letter.id])).stdout).toContain(`"url": "${site.url('/a')}"`);
  expect((await workplace.run(['dlq', 'show', site.url('/b'), '--local'])).code).toBe(0);
  expect(await urlsOf(workplace)).toEqual(all);
  expect(await urlsOf(workplace, '--reason', 'malformed')).toEqual(['no-url']);
  const { runs } = await workplace.json(['url', site.url('/a'), '--run', 'mine']);
  expect(JSON.stringify(runs)).toContain('http_4xx');
  expect(await workplace.json(['dlq', 'purge', '--run', 'mine', '--reason', 'malformed'])).toMatchObject({ purged: 1 });
  const one = { forgotten: 1, kept: 0, letters: 1 };
  expect(await workplace.json(['forget', site.url('/b'), '--local', '--dry-run'])).toEqual({ ...one, dryRun: true });
  expect(await workplace.json(['forget', site.url('/b'), '--local'])).toEqual(one);
  expect(await urlsOf(workplace)).toEqual([site.url('/a')]);
  expect(await workplace.json(['dlq', 'purge', '--local', '--all'])).toMatchObject({ purged: 1 });
  expect(await urlsOf(workplace)).toEqual([]);
  expect((await workplace.run(['dlq', 'show', letter.id])).stderr).toContain(
    'dlq list --local lists the existing ones',
  );
  const env = { TRAWL_COMMAND: 'npx trawl' };
  const { code, stderr } = await workplace.start(['dlq', 'list'], undefined, { env }).ended;
  expect([code, stderr]).toEqual([
    1,
    expect.stringContaining('For crawls on this machine: the same command with --local'),
  ]);
}, 120_000);

test('a local replay puts letters back into their own run, and the command that it prints resumes it', async () => {
  const { site, mended, workplace } = await setup();
  await crawl(workplace, site);
  const before = await workplace.json(['status', 'mine']);
  expect(before).toMatchObject({ state: 'finished', discovered: 4, done: 1, failed: 3 });
  const dry = await workplace.json(['dlq', 'replay', '--local', '--dry-run']);
  expect(dry).toMatchObject({
    letters: 2,
    malformed: 1,
    dryRun: true,
    runs: [{ run: 'mine', letters: 2, resume: null }],
  });
  expect(await workplace.json(['status', 'mine'])).toEqual(before);
  const refused = await workplace.run(['dlq', 'replay', '--run', 'mine', '--rate', '1/s']);
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('leave out --rate')]);

  mended.is = true;
  const { stdout } = await workplace.run(['dlq', 'replay', '--run', 'mine', '--reason', 'http_4xx']);
  expect(stdout).toBe(
    'Run mine: 2 letters replayed: 2 wait again, 0 known already\n' +
      '  No process is crawling it. Resume it with: trawl crawl --resume mine\n',
  );
  expect(await workplace.json(['status', 'mine'])).toMatchObject({
    ...{ state: 'running', discovered: 4, waiting: 2, done: 1, failed: 1 },
    reasons: { failed: { malformed: 1 } },
  });
  expect(await urlsOf(workplace)).toEqual(['no-url']);
  const other = await workplace.run(['crawl', '--resume', 'mine', '--dedup', 'ever']);
  expect([other.code, other.stderr]).toEqual([2, expect.stringContaining('leave out --dedup')]);
  // The resumed run keeps its original flags: without --private-hosts no request would be allowed.
  expect(await workplace.json(['crawl', '--resume', 'mine'])).toMatchObject({ discovered: 4, done: 3, failed: 1 });
  expect((await workplace.records('mine')).map(({ title }) => title).filter((title) => title === 'well').length).toBe(
    2,
  );
  expect(await workplace.json(['dlq', 'replay', '--run', 'mine'])).toMatchObject({
    letters: 0,
    runs: [],
    malformed: 1,
  });
}, 120_000);

test('a page that fails again keeps a single letter, and a running crawl picks up replayed letters', async () => {
  const { site, mended, workplace } = await setup(400);
  await crawl(workplace, site);
  await workplace.run(['dlq', 'replay', '--run', 'mine']);
  await workplace.run(['crawl', '--resume', 'mine']);
  expect(await urlsOf(workplace)).toEqual(['no-url', site.url('/a'), site.url('/b')].toSorted());

  const slow = ['--rate', '600/min', '--private-hosts', '127.0.0.0/8', '--robots', 'ignore'];
  const list = Array.from({ length: 400 }, (_, i) => site.url(`/page/${i + 1}`));
  const seeds = [site.url('/a'), ...list].join('\n');
  const crawling = workplace.start(['crawl', '-', '--run', 'slow', ...slow], seeds);
  await site.arrival('/page/3');
  mended.is = true;
  expect((await workplace.run(['dlq', 'replay', '--run', 'slow'])).stdout).toBe(
    'Run slow: 1 letter replayed: 1 wait again, 0 known already\n' +
      '  The running crawl picks them up. Progress: trawl status slow --watch\n',
  );
  expect(await workplace.json(['cancel', 'slow'])).toMatchObject({ is: 'cancelled' });
  expect((await crawling.ended).code).toBe(0);
}, 120_000);

test('a replay leaves the letters of a cancelled run, and crawling a run again from the start removes its letters', async () => {
  const { site, workplace } = await setup(400);
  const slow = ['--rate', '600/min', '--private-hosts', '127.0.0.0/8', '--robots', 'ignore'];
  const seeds = [site.url('/a'), ...Array.from({ length: 400 }, (_, i) => site.url(`/page/${i + 1}`))].join('\n');
  const crawling = workplace.start(['crawl', '-', '--run', 'mine', ...slow], seeds);
  await site.arrival('/page/3');
  await workplace.run(['cancel', 'mine']);
  await crawling.ended;
  const { stdout } = await workplace.run(['dlq', 'replay', '--run', 'mine']);
  expect(stdout).toContain('Run mine was cancelled: 1 letter left in place.');
  expect(await urlsOf(workplace)).toEqual([site.url('/a')]);
  await workplace.run(['crawl', site.url('/b'), '--run', 'mine', ...FAST]);
  expect(await urlsOf(workplace)).toEqual([site.url('/b')]);
}, 120_000);
