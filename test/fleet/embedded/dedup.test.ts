import { expect, onTestFinished, test } from 'vitest';
import { ChangingPages } from '../../support/changing-pages.ts';
import { AT_FULL_SPEED } from '../../support/full-speed.ts';
import { openWorkplace } from '../../support/processes/trawl.ts';
import { TestSite } from '../../support/site.ts';

async function setup() {
  const site = new TestSite({ pages: 20 });
  await site.start();
  onTestFinished(() => site.stop());
  let isMended = false;
  site.on('/a', (_, response) => {
    response.statusCode = isMended ? 200 : 404;
    response.setHeader('content-type', 'text/html').end('<title>well</title>');
  });
  const workplace = await openWorkplace();
  const flags = ['--dedup', 'ever', ...AT_FULL_SPEED];
  return {
    ...{ site, workplace, flags },
    mend: () => {
      isMended = true;
    },
    /** Crawls these pages, and returns the paths that were requested. */
    crawl: async (paths: readonly string[], ...more: readonly string[]) => {
      const from = site.requests.length;
      const seeds = paths.map((path) => site.url(path)).join('\n');
      const summary = await workplace.json(['crawl', '-', ...flags, ...more], seeds);
      return { summary, asked: site.requests.slice(from).map(({ path }) => path) };
    },
  };
}

test('a crawl with --dedup ever takes only pages that no such crawl has taken before, or that failed', async () => {
  const { site, workplace, flags, mend, crawl } = await setup();
  const first = await crawl(['/page/1', '/page/2', '/a']);
  expect(first.summary).toMatchObject({ discovered: 3, done: 2, failed: 1 });
  mend();
  const second = await crawl(['/page/1', '/page/2', '/page/3', '/a']);
  expect(second.summary).toMatchObject({ discovered: 2, duplicate: 2, done: 2 });
  expect(second.asked.toSorted()).toEqual(['/a', '/page/3']);
  const third = await workplace.run(['crawl', site.url('/page/1'), '--run', 'third', ...flags]);
  expect([third.code, third.stdout]).toEqual([
    0,
    expect.stringContaining('1 known, nothing new; without --dedup ever, they are crawled again'),
  ]);
  expect((await workplace.run(['status', 'third'])).stdout).toContain('without --dedup ever');
  // The first run's letter: another run has done the page.
  const { runs } = await workplace.json(['dlq', 'replay', '--run', first.summary.run]);
  expect(runs).toMatchObject([{ letters: 1, accepted: 0, known: 1, resume: null }]);

  expect(await workplace.json(['forget', site.url('/page/2'), '--local'])).toEqual({ forgotten: 1, kept: 0 });
  expect((await crawl(['/page/1', '/page/2'])).asked).toEqual(['/page/2']);
  // Crawls without the flag use their own marks, and leave none of these.
  const plain = await workplace.json(['crawl', site.url('/page/9'), ...AT_FULL_SPEED]);
  expect(plain).toMatchObject({ done: 1 });
  expect((await crawl(['/page/9'])).asked).toEqual(['/page/9']);
  expect((await workplace.run(['crawl', site.url('/'), '--dedup', 'always'])).stderr).toContain(
    'expected --dedup to be ever or run, got "always"',
  );
}, 120_000);

test('URLs left out because they wait in a killed crawl are reported, and taken once that crawl is cancelled', async () => {
  const { site, workplace, flags, crawl } = await setup();
  let isStuck = true;
  site.on('/b', (_, response) => {
    if (!isStuck) response.setHeader('content-type', 'text/html').end('<title>well</title>');
  });
  const killed = workplace.start(['crawl', site.url('/b'), '--run', 'killed', ...flags]);
  await site.arrival('/b');
  killed.signal('SIGKILL');
  await killed.ended;
  isStuck = false;
  const next = await workplace.run(['crawl', site.url('/b'), '--quiet', ...flags]);
  expect(next.code).toBe(0);
  expect(next.stderr).toBe(
    'Left out as known, though not crawled: 1 URL of stopped runs (killed)\n' +
      'Crawl them with: trawl crawl --resume killed\nOr have later crawls take them: trawl cancel killed\n',
  );
  await workplace.run(['cancel', 'killed']);
  expect((await crawl(['/b'])).asked).toEqual(['/b']);
  expect((await workplace.run(['crawl', site.url('/b'), '--quiet', ...flags])).stderr).toBe('');
}, 120_000);

test('--dedup ever with --incremental takes changed pages again', async () => {
  const { site, workplace, flags } = await setup();
  const pages = new ChangingPages(site, 5);
  const crawl = async (...more: readonly string[]) =>
    await workplace.json(['crawl', site.url('/sitemap.xml'), ...flags, '--incremental', ...more]);
  expect(await crawl()).toMatchObject({ discovered: 5, done: 5 });
  pages.takeAnswers();
  pages.change(2, { lastmod: new Date(Date.now() + 1_000).toISOString() });
  expect(await crawl()).toMatchObject({ discovered: 1, duplicate: 4, done: 1 });
  expect(pages.takeAnswers()).toEqual(['200 /page/2']);
}, 120_000);

test('records says of an ended run without records that it has ended, and which command says how', async () => {
  const { crawl, workplace } = await setup();
  await crawl(['/page/1'], '--run', 'first');
  await crawl(['/page/1'], '--run', 'second');
  const { code, stderr } = await workplace.run(['records']);
  const why = 'it has ended; trawl status second says how';
  expect([code, stderr]).toEqual([1, `trawl: run second has no records in ./output (OUTPUT_DIR): ${why}\n`]);
});
