import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { AT_FULL_SPEED } from '../../support/full-speed.ts';
import { openWorkplace, type Workplace } from '../../support/processes/trawl.ts';
import { TestSite } from '../../support/site.ts';
import { mountSmallDisk } from '../../support/stores/small-disk.ts';

/** A command prefix that limits the size of files: for a process that writes more, the disk is full. */
function limitedTo(mib: number): string[] {
  return ['sh', '-c', `ulimit -f ${mib * 2_048}; exec "$@"`, 'sh'];
}

async function setup(pages: number): Promise<{ site: TestSite; workplace: Workplace }> {
  const site = new TestSite({ pages });
  await site.start();
  onTestFinished(() => site.stop());
  return { site, workplace: await openWorkplace() };
}

describe('a full disk', () => {
  test('for the records ends the crawl with the file name, and the crawl can be resumed once there is room', async () => {
    const { site, workplace } = await setup(0);
    const paths = Array.from({ length: 24 }, (_, n) => `/large/${n}`);
    for (const path of paths)
      site.on(path, (_, response) => response.setHeader('content-type', 'text/html').end('x'.repeat(2 ** 20)));
    const list = paths.map((path) => site.url(path)).join('\n');
    const args = ['crawl', '-', '--run', 'full', '--content', 'html', ...AT_FULL_SPEED];
    const { code, stderr, stdout } = await workplace.start(args, list, { under: limitedTo(16) }).ended;
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^trawl: output\/full\/\S+\.jsonl can't be written: EFBIG: .*\nWhat is done is kept\. Once this is fixed: trawl crawl --resume full\n$/m,
    );
    expect(stdout).toContain('Run full stopped after');
    const summary = await workplace.json(['crawl', '--resume']);
    expect(summary).toMatchObject({ state: 'finished', discovered: 24, done: 24, duplicate: 0 });
    expect((await workplace.records('full')).length).toBe(24);
  });

  test('for the database ends the crawl with the file name, and the crawl can be resumed once there is room', async () => {
    const { site, workplace } = await setup(2_000);
    const args = ['crawl', site.url('/sitemap.xml'), '--run', 'full', ...AT_FULL_SPEED];
    const { code, stderr } = await workplace.start(args, '', { under: limitedTo(1) }).ended;
    expect(code).toBe(1);
    expect(stderr).toMatch(/^trawl: output\/trawl\.sqlite can't be written: /m);
    const summary = await workplace.json(['crawl', '--resume']);
    expect(summary).toMatchObject({ state: 'finished', discovered: 2_000, done: 2_000, duplicate: 0 });
    expect((await workplace.records('full')).length).toBe(2_000);
  });

  test('for the whole output folder ends the crawl with the file name, and the crawl can be resumed once there is room', async (context) => {
    const { site, workplace } = await setup(900);
    const disk = await mountSmallDisk(join(workplace.folder, 'output'), { kib: 1_024 });
    if (disk === undefined)
      return context.skip('mounting a small disk is not allowed here; the limits above stand for it');
    const args = ['crawl', site.url('/sitemap.xml'), '--run', 'full', ...AT_FULL_SPEED];
    const { code, stderr } = await workplace.run(args);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^trawl: output\/\S+ can't be written: (ENOSPC: |database or disk is full)/m);
    expect((await workplace.run(['crawl', '--resume'])).code, 'still full').toBe(1);
    disk.grow();
    expect(await workplace.json(['crawl', '--resume'])).toMatchObject({ state: 'finished', done: 900, duplicate: 0 });
    expect((await workplace.records('full')).length).toBe(900);
  });
});
