import { writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { AT_FULL_SPEED } from '../../support/full-speed.ts';
import { openWorkplace, type Workplace } from '../../support/processes/trawl.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';
import { TestSite, type TestSiteOptions } from '../../support/site.ts';
import { openTestDatabase } from '../../support/stores/postgres.ts';

/** The counters that do not depend on timing. */
const COUNTERS = [
  'state',
  'discovered',
  'duplicate',
  'waiting',
  'inFlight',
  'done',
  'skipped',
  'failed',
  'bytes',
  'records',
];

async function setup(options: TestSiteOptions = {}): Promise<{ site: TestSite; workplace: Workplace }> {
  const site = new TestSite(options);
  await site.start();
  onTestFinished(() => site.stop());
  return { site, workplace: await openWorkplace() };
}

function countersOf(summary: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries([...COUNTERS, 'reasons'].map((name) => [name, summary[name]]));
}

/** Queries the database of all runs, in the state that a crash left it. */
function query({ folder }: Workplace, sql: string, ...values: string[]): Record<string, unknown>[] {
  const database = new DatabaseSync(join(folder, 'output', 'trawl.sqlite'));
  try {
    return database.prepare(sql).all(...values);
  } finally {
    database.close();
  }
}

/** The paths of settled pages: taken, and no task of theirs waits or is in flight. */
function settledPaths(workplace: Workplace): string[] {
  const over = query(
    workplace,
    'SELECT mark FROM marks WHERE NOT EXISTS (SELECT 1 FROM tasks WHERE tasks.id = marks.task AND over IS NULL)',
  );
  return over.map(({ mark }) => new URL(String(mark)).pathname);
}

async function expectEachOnce(workplace: Workplace, run: string, pages: number): Promise<void> {
  const urls = (await workplace.records(run)).map(({ url }) => url);
  expect([urls.length, new Set(urls).size]).toEqual([pages, pages]);
}

describe('trawl crawl --resume', () => {
  test('after Ctrl-C the printed command resumes the crawl, and nothing is fetched twice', async () => {
    const { site, workplace } = await setup({ pages: 200 });
    // On a busy machine the crawl could otherwise end before the signal arrives.
    const interrupted = Promise.withResolvers<void>();
    site.on('/page/200', (_, response) => {
      void interrupted.promise.then(() =>
        response.setHeader('content-type', 'text/html').end('<title>Page 200</title>'),
      );
    });
    const crawl = workplace.start(['crawl', site.url('/'), '--run', 'cut', ...AT_FULL_SPEED]);
    await site.arrival('/page/60');
    crawl.signal('SIGINT');
    await crawl.says(/Finishing the pages in hand/);
    interrupted.resolve();
    const { code, stderr } = await crawl.ended;
    expect(code).toBe(130);
    expect(stderr).toMatch(/\nResume with: trawl crawl --resume cut\n$/);
    const summary = await workplace.json(['crawl', '--resume', 'cut']);
    expect(summary).toMatchObject({ run: 'cut', state: 'finished', discovered: 200, done: 200, duplicate: 0 });
    for (let n = 1; n <= 200; n++) expect(site.count(`/page/${n}`)).toBe(1);
    await expectEachOnce(workplace, 'cut', 200);
  });

  describe('after kill -9', () => {
    const flags = ['--follow', '--max-depth', '1000', ...AT_FULL_SPEED];
    const crawled = sharedByTests(async (atEnd) => {
      const site = new TestSite({ pages: 120 });
      await site.start();
      atEnd(() => site.stop());
      const workplace = await openWorkplace({}, atEnd);
      return { site, whole: await workplace.json(['crawl', site.url('/sitemap.xml'), ...flags]) };
    });

    test.each(['/sitemap.xml', '/page/1', '/page/40', '/page/119', '/page/120'])(
      'at %s the resumed crawl has the counters of an undisturbed one, and fetches no settled page again',
      async (path) => {
        const { site, whole } = crawled();
        site.reset();
        const workplace = await openWorkplace();
        const crawl = workplace.start(['crawl', site.url('/sitemap.xml'), '--run', 'cut', ...flags]);
        await site.arrival(path);
        crawl.signal('SIGKILL');
        await crawl.ended;
        const settled = settledPaths(workplace);
        const summary = await workplace.json(['crawl', '--resume']);
        expect(countersOf(summary)).toEqual(countersOf(whole));
        for (const over of settled) expect(site.count(over)).toBe(1);
        await expectEachOnce(workplace, 'cut', 120);
      },
    );
  });

  test('a crawl that is killed again and again still completes', async () => {
    const { site, workplace } = await setup({ pages: 300 });
    let crawl = workplace.start(['crawl', site.url('/sitemap.xml'), '--run', 'cut', ...AT_FULL_SPEED]);
    for (const path of ['/page/1', '/page/90', '/page/180', '/page/270']) {
      await site.arrival(path);
      crawl.signal('SIGKILL');
      await crawl.ended;
      crawl = workplace.start(['crawl', '--resume', 'cut', '--json']);
    }
    const summary = JSON.parse((await crawl.ended).stdout);
    expect(summary).toMatchObject({ state: 'finished', discovered: 300, done: 300, duplicate: 0 });
    await expectEachOnce(workplace, 'cut', 300);
  });

  test('a resumed crawl keeps its --sink flag, and is refused if SINK in the environment has changed', async () => {
    const { site, workplace } = await setup({ pages: 40 });
    const { url, pool } = await openTestDatabase();
    const stored = async (run: string): Promise<number> =>
      Number((await pool.query('SELECT count(*) FROM trawl_records WHERE run = $1', [run])).rows[0].count);
    const begin = async (run: string, flags: readonly string[], env: Readonly<Record<string, string>>) => {
      site.reset();
      const args = ['crawl', site.url('/sitemap.xml'), '--run', run, ...AT_FULL_SPEED, ...flags];
      const crawl = workplace.start(args, undefined, { env });
      await site.arrival('/page/20');
      crawl.signal('SIGKILL');
      await crawl.ended;
    };
    await begin('flag', ['--sink', url], {});
    expect(await workplace.json(['crawl', '--resume', 'flag'])).toMatchObject({ done: 40 });
    await begin('env', [], { SINK: url });
    const refused = await workplace.run(['crawl', '--resume', 'env']);
    expect([refused.code, refused.stderr]).toEqual([
      2,
      expect.stringMatching(
        /^trawl: run env has its records in Postgres at \S+ .*, but SINK names files \(jsonl\): set SINK back/,
      ),
    ]);
    expect(refused.stderr).not.toContain(new URL(url).password || 'a password');
    expect((await workplace.start(['crawl', '--resume', 'env'], undefined, { env: { SINK: url } }).ended).code).toBe(0);
    expect([await stored('flag'), await stored('env')]).toEqual([40, 40]);
    const lookedFor = await workplace.run(['records', 'flag']);
    expect(lookedFor.stderr).toMatch(
      /^trawl: no records of run flag in \.\/output \(OUTPUT_DIR\)\. They are in Postgres at \S+ .*: set SINK to that\n$/,
    );
  });

  test('resuming is refused if the crawler lost a step or a join in use, and warns that added joins do not apply', async () => {
    const { site, workplace } = await setup();
    const crawlerOf = (steps: string, joins = '') => `import { defineCrawler } from 'trawl';
const page = { run({ emit }) { emit({ n: 1 }); } };
export default defineCrawler({ name: 'shop', steps: { ${steps} }, joins: { ${joins} } });
`;
    const list = "list: { to: ['product'], run({ follow }) { follow('product', '/page/2'); } }";
    const joins = "offer: { per: 'product', of: ['product'], run() {} }";
    const file = join(workplace.folder, 'shop.mjs');
    await writeFile(file, crawlerOf(`${list}, product: page`, joins));
    site.on('/page/2', () => {});
    const flags = ['--crawler', './shop.mjs', '--run', 'cut', ...AT_FULL_SPEED];
    const crawl = workplace.start(['crawl', site.url('/page/1'), ...flags]);
    await site.arrival('/page/2');
    crawl.signal('SIGKILL');
    await crawl.ended;
    await writeFile(file, crawlerOf('list: page'));
    const { code, stderr } = await workplace.run(['crawl', '--resume', 'cut']);
    expect([code, stderr]).toEqual([
      78,
      'trawl: run cut needs product, offer, which shop.mjs no longer has: put it back, or begin another run\n',
    ]);
    const more = "all: { of: ['offer'], run() {} }";
    await writeFile(file, crawlerOf(`${list}, product: page`, `${joins}, ${more}`));
    site.on('/page/2', (_, response) => void response.setHeader('content-type', 'text/html').end('<title>2</title>'));
    const resumed = await workplace.run(['crawl', '--resume', 'cut', '--json']);
    expect(JSON.parse(resumed.stdout)).toMatchObject({ state: 'finished', done: 3 });
    expect(resumed.stderr).toMatch(/"changed":"all","msg":"the run keeps the joins and groups that it was begun with/);
  });

  test('attempts made before the stop count, so a page gets no more tries than --max-attempts', async () => {
    const { site, workplace } = await setup();
    const held = Promise.withResolvers<ServerResponse>();
    site.on('/held', (_, response) => held.resolve(response));
    const urls = [site.url('/page/1'), site.url('/status/500'), site.url('/held')].join('\n');
    const crawl = workplace.start(['crawl', '-', '--run', 'cut', '--max-attempts', '2', ...AT_FULL_SPEED], urls);
    await site.arrival('/status/500');
    const response = await held.promise;
    // Lost half-way: a request that is lost before its answer begins may be repeated on another connection.
    site.on('/held', (_, again) => {
      again.writeHead(200).write('half');
      setImmediate(() => again.destroy());
    });
    crawl.signal('SIGINT');
    await crawl.says(/Finishing the pages in hand/);
    response.destroy();
    expect((await crawl.ended).code).toBe(130);
    const summary = await workplace.json(['crawl', '--resume']);
    expect(summary).toMatchObject({ done: 1, failed: 2, reasons: { failed: { http_5xx: 1, connection: 1 } } });
    expect([site.count('/status/500'), site.count('/held')]).toEqual([2, 2]);
  });

  test('a second process is refused, and told which process crawls the run', async () => {
    const { site, workplace } = await setup();
    const crawl = workplace.start(['crawl', site.url('/hang'), '--run', 'held', ...AT_FULL_SPEED]);
    await site.arrival('/hang');
    const second = await workplace.run(['crawl', '--resume', 'held']);
    expect(second.code).toBe(1);
    expect(second.stderr).toMatch(
      /^trawl: run held is being crawled by process \d+ on .*: wait until it has ended, or stop it/,
    );
    crawl.signal('SIGKILL');
    await crawl.ended;
    site.on('/hang', (_, response) => response.end('ok'));
    expect(await workplace.json(['crawl', '--resume', 'held'])).toMatchObject({ done: 1 });
  });

  test('without a run id resumes the run that stopped last, not one that is being crawled', async () => {
    const { site, workplace } = await setup();
    const stopped = workplace.start(['crawl', site.url('/hang'), '--run', 'stopped', ...AT_FULL_SPEED]);
    await site.arrival('/hang');
    stopped.signal('SIGKILL');
    await stopped.ended;
    const held = Promise.withResolvers<ServerResponse>();
    site.on('/held', (_, response) => held.resolve(response));
    site.on('/hang', (_, response) => response.end('ok'));
    const atWork = workplace.start(['crawl', site.url('/held'), '--run', 'at-work', ...AT_FULL_SPEED]);
    const response = await held.promise;
    expect(await workplace.json(['crawl', '--resume'])).toMatchObject({ run: 'stopped', done: 1 });
    response.end('ok');
    expect((await atWork.ended).code).toBe(0);
  });

  test('a second Ctrl-C stops at once and prints the resuming command, too', async () => {
    const { site, workplace } = await setup();
    const crawl = workplace.start([
      'crawl',
      site.url('/hang'),
      '--run',
      'cut',
      '--output-dir',
      'an output',
      ...AT_FULL_SPEED,
    ]);
    await site.arrival('/hang');
    crawl.signal('SIGINT');
    await crawl.says(/Finishing the pages in hand/);
    // Sent any sooner, it would count as the same one.
    await sleep(200);
    crawl.signal('SIGINT');
    const { code, stderr } = await crawl.ended;
    expect(code).toBe(130);
    expect(stderr).toContain("\nStopped at once.\nResume with: trawl crawl --resume cut --output-dir 'an output'\n");
  });

  test('an ended run can be crawled again under its id, and its new records replace the old ones', async () => {
    const { site, workplace } = await setup();
    const args = [
      'crawl',
      site.url('/page/1'),
      site.url('/page/2'),
      site.url('/news'),
      '--run',
      'daily',
      ...AT_FULL_SPEED,
    ];
    for (const title of ['old', 'new']) {
      site.on('/news', (_, response) => response.setHeader('content-type', 'text/html').end(`<title>${title}</title>`));
      expect(await workplace.json(args)).toMatchObject({ discovered: 3, done: 3 });
    }
    const records = await workplace.records('daily');
    expect(records.map(({ title }) => title).toSorted()).toEqual(['Page 1', 'Page 2', 'new']);
  });

  test('a list on standard input that was only partly read must be given again', async () => {
    const { site, workplace } = await setup();
    const list = (to: number): string =>
      Array.from({ length: to }, (_, i) => `${site.url(`/page/${i + 1}`)}\n`).join('');
    const crawl = workplace.start(['crawl', '-', '--run', 'list', ...AT_FULL_SPEED], list(3), { holdsInput: true });
    await site.arrival('/page/3');
    const status = async (): Promise<string> => (await workplace.run(['status', 'list'])).stdout;
    expect(await status()).toContain('\nSeeds: being read\n');
    crawl.signal('SIGINT');
    expect((await crawl.ended).stderr).toContain('\nResume with: trawl crawl --resume list - < LIST\n');
    expect(await status()).toContain('\nSeeds: not all read\n');
    const without = await workplace.run(['crawl', '--resume', 'list']);
    expect([without.code, without.stderr]).toEqual([
      2,
      expect.stringContaining('Give the list again: trawl crawl --resume list - < LIST'),
    ]);
    const summary = await workplace.json(['crawl', '--resume', 'list', '-'], list(6));
    expect(summary).toMatchObject({ discovered: 6, done: 6, duplicate: 0 });
    for (let n = 1; n <= 6; n++) expect(site.count(`/page/${n}`)).toBe(1);
  });

  test('a resume that is not possible is refused with the reason, and crawls nothing', async () => {
    const { site, workplace } = await setup();
    const run = (...args: string[]) => workplace.run(['crawl', ...args]);
    expect(await run('--resume')).toMatchObject({
      code: 1,
      stderr: 'trawl: nothing to resume in ./output: no run there can be resumed (OUTPUT_DIR)\n',
    });
    await workplace.json(['crawl', site.url('/page/1'), '--run', 'over', ...AT_FULL_SPEED]);
    expect(await run('--resume', 'over')).toMatchObject({
      code: 0,
      stderr: 'Run over is finished: nothing left to do.\n',
    });
    expect(await run('--resume', 'other')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('run other is not known'),
    });
    const crawl = workplace.start(['crawl', site.url('/hang'), '--run', 'cut', ...AT_FULL_SPEED]);
    await site.arrival('/hang');
    crawl.signal('SIGKILL');
    await crawl.ended;
    for (const [args, said] of [
      [['--resume', 'cut', site.url('/page/2')], 'a resumed run takes no new seeds'],
      [['--resume', 'cut', '--urls-file', 'x'], 'a resumed run takes no new seeds'],
      [['--resume', 'cut', '-'], 'run cut was not begun with a list (-)'],
      [['--resume', '--run', 'cut'], 'expected the run after --resume'],
      [['--resume', 'cut', '--rate', '5/s', '--follow'], 'leave out --rate, --follow'],
      [['--resume', 'cut', '--limit', '5', '--arg', 'a=b', '--follow'], 'leave out --arg, --limit, --follow'],
      [[site.url('/page/2'), '--run', 'cut'], 'resume it with --resume cut, or choose another --run'],
    ] as const) {
      const { code, stderr } = await run(...args);
      expect([code, stderr]).toEqual([2, expect.stringContaining(said)]);
    }
  });
});
