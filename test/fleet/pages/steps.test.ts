import { rename, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { AT_FULL_SPEED } from '../../support/full-speed.ts';
import { openFleet } from '../../support/processes/fleet.ts';
import { copyProgram, crawlerText } from '../../support/processes/own-program.ts';
import { openWorkplace, type Workplace } from '../../support/processes/trawl.ts';
import { TestSite } from '../../support/site.ts';

const ENDLESS = 'for (let n = 0; ; n++) if (n < 0) break;';
const FIRST_LINE = 4;
const OWN = ['--crawler', 'own', ...AT_FULL_SPEED];

async function setup(step: string, pages = 5) {
  const site = new TestSite({ pages });
  await site.start();
  onTestFinished(() => site.stop());
  const workplace = await openWorkplace();
  const program = await copyProgram(join(workplace.folder, 'program'), { own: crawlerText('/page/2', step) });
  return { site, workplace, program };
}

function mend(program: string): Promise<void> {
  return writeFile(join(program, 'crawlers/own.ts'), crawlerText('/page/2', 'return {};'));
}

async function failuresOf(workplace: Workplace, run: string): Promise<unknown[]> {
  return (await workplace.records(run, '--failed')).map(({ reason, error }) => [reason, error]);
}

describe('a step that fails', () => {
  // biome-ignore format: a table
  test.each([
    ['throws',         'null.field;',                `crawlers/own.ts:${FIRST_LINE}: TypeError: Cannot read properties of null (reading 'field'), in \`null.field;\``],
    ['returns nothing', 'return;',                   'crawler own: expected a step to return { data, links }, got undefined'],
    ['never settles',  'await new Promise(() => {});', 'crawler own: it took longer than 0.5 s (STEP_TIMEOUT)'],
    ['waits for ever', 'await new Promise((done) => setTimeout(done, 1e9));', 'crawler own: it took longer than 0.5 s (STEP_TIMEOUT)'],
  ])('because it %s fails its page alone, and the crawl ends', async (_, step, error) => {
    const { site, workplace, program } = await setup(step);
    const options = ['--run', 'r', '--step-timeout', '500ms', '--json', ...OWN];
    const { code, stdout, stderr } = await workplace.start(['crawl', site.url('/'), ...options], undefined, { program }).ended;
    expect(code, stderr).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ done: 4, failed: 1, reasons: { failed: { step: 1 } } });
    expect(await failuresOf(workplace, 'r')).toEqual([['step', error]]);
    expect(stderr).toContain(JSON.stringify(error).slice(1, -1));
  });

  test('names its file even if the program and the crawler are symlinks', async () => {
    const { site, workplace, program } = await setup('null.field;');
    const elsewhere = join(workplace.folder, 'my crawler (2).ts');
    await rename(join(program, 'crawlers/own.ts'), elsewhere);
    await writeFile(elsewhere, crawlerText('/page/2', 'null.field;').replace('..', program));
    await symlink(elsewhere, join(program, 'crawlers/own.ts'));
    await symlink(program, join(workplace.folder, 'linked'));
    await writeFile(join(program, 'crawlers/near.ts'), crawlerText('/page/2', 'null.field;'));
    for (const [crawler, place] of [
      ['own', `my crawler (2).ts:${FIRST_LINE}: TypeError`],
      ['near', `crawlers/near.ts:${FIRST_LINE}: TypeError`],
    ] as const) {
      for (const folder of [program, join(workplace.folder, 'linked')]) {
        const run = `${crawler}-${folder === program}`;
        const options = ['--run', run, '--crawler', crawler, ...AT_FULL_SPEED];
        await workplace.start(['crawl', site.url('/'), ...options], undefined, { program: folder }).ended;
        expect(await failuresOf(workplace, run)).toEqual([['step', expect.stringContaining(place)]]);
      }
    }
  });
});

describe('a step that blocks its process', () => {
  // biome-ignore format: a table
  test.each([
    ['an endless loop',                    ENDLESS],
    ['a loop behind an await',             `await 1; ${ENDLESS}`],
    ['a loop of microtasks',               'for (;;) await null;'],
    ['a regular expression without end',   "/^(a+)+$/.test('a'.repeat(60) + 'b');"],
  ])('with %s makes the crawl say where, exit with 1, and leave a run that can be resumed', async (_, step) => {
    const { site, workplace, program } = await setup(step);
    const options = ['--run', 'r', '--step-timeout', '100ms', ...OWN];
    const crawl = workplace.start(['crawl', site.url('/'), ...options], undefined, { program });
    await site.arrival('/page/2');
    await sleep(500);
    crawl.signal('SIGTERM');
    const { code, stderr } = await crawl.ended;
    expect(code, stderr).toBe(1);
    const [stuck, ...words] = stderr.trimEnd().split('\n').slice(-3);
    expect(stuck).toMatch(new RegExp(`^trawl: stuck for 10 s at crawlers/own\\.ts:${FIRST_LINE}(, with ${site.url('/page/2')} in hand)?: this process ends$`));
    expect(words).toEqual(['What is done is kept.', 'Resume with: trawl crawl --resume r']);
    await mend(program);
    const resumed = await workplace.start(['crawl', '--resume', 'r', '--json'], undefined, { program }).ended;
    expect(resumed.code, resumed.stderr).toBe(0);
    expect(JSON.parse(resumed.stdout)).toMatchObject({ state: 'finished', done: 5, failed: 0, records: 5 });
  });

  test('is not what a process stopped by SIGSTOP is taken for', async () => {
    const { site, workplace, program } = await setup('return {};', 40);
    const options = [
      '--run',
      'r',
      '--step-timeout',
      '100ms',
      '--rate',
      '10/s',
      '--crawler',
      'own',
      '--json',
      '--private-hosts',
      '127.0.0.0/8',
    ];
    const crawl = workplace.start(['crawl', site.url('/'), ...options], undefined, { program });
    await site.arrival('/page/5');
    crawl.signal('SIGSTOP');
    await sleep(13_000);
    crawl.signal('SIGCONT');
    const { code, stdout, stderr } = await crawl.ended;
    expect(code, stderr).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ done: 40, failed: 0 });
  });

  test('does not end a process with a debugger attached', async () => {
    const { site, workplace, program } = await setup(
      'const end = Date.now() + 13_000; while (Date.now() < end);  return {};',
    );
    const options = ['--run', 'r', '--step-timeout', '100ms', '--json', ...OWN];
    const env = { NODE_OPTIONS: '--inspect=0' };
    const { code, stdout, stderr } = await workplace.start(['crawl', site.url('/'), ...options], undefined, {
      program,
      env,
    }).ended;
    expect(code, stderr).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ done: 5, failed: 0 });
  });

  test('ends its worker, and the other workers of the fleet take the rest', async () => {
    const { workplace, site, redis, keyPrefix } = await openFleet({ pages: 20 });
    const program = await copyProgram(join(workplace.folder, 'program'), { own: crawlerText('/page/2', ENDLESS) });
    const options = ['--step-timeout', '100ms', ...OWN];
    await workplace.start(['produce', site.url('/sitemap.xml'), '--run', 'r', ...OWN], undefined, { program }).ended;
    const stuck = await workplace.start(['work', ...options], undefined, { program }).ended;
    expect(stuck.code, stuck.stderr).toBe(1);
    expect(stuck.stderr).toMatch(
      /\ntrawl: stuck for 10 s at crawlers\/own\.ts:4, with http:\S+\/page\/2 in hand: this process ends\n/,
    );
    const ledger = Object.values(await redis.hgetall(`${keyPrefix}run:r:inflight`)).filter((entry) =>
      entry.includes('/page/2\t'),
    );
    expect(ledger, 'a start was counted').toEqual([expect.stringMatching(/^working:\S+ \S+ normal 0 1 0 /)]);
    await mend(program);
    const { code, stderr } = await workplace.start(['work', '--exit-when-idle', ...options], undefined, { program })
      .ended;
    expect(code, stderr).toBe(0);
    expect(await workplace.json(['status', 'r'])).toMatchObject({ state: 'finished', done: 20, failed: 0 });
  }, 120_000);
});
