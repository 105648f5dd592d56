import { glob, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { AT_FULL_SPEED } from '../../support/full-speed.ts';
import { openWorkplace } from '../../support/processes/trawl.ts';
import { TestSite } from '../../support/site.ts';

test.each([
  ['output', /^trawl: output\/\S+ was removed while it was being written/m],
  ['output/r', /^trawl: output\/r\/\S+\.jsonl was removed while it was being written/m],
  ['output/trawl.sqlite', /^trawl: output\/trawl\.sqlite was removed while it was being written/m],
])('a crawl ends if somebody removes its %s, and says that it is lost', async (path, said) => {
  const site = new TestSite({ pages: 40 });
  await site.start();
  onTestFinished(() => site.stop());
  const workplace = await openWorkplace();
  // One page is never answered, so the crawl doesn't end by itself.
  const list = [...Array.from({ length: 40 }, (_, n) => site.url(`/page/${n + 1}`)), site.url('/hang')].join('\n');
  const crawl = workplace.start(['crawl', '-', '--run', 'r', ...AT_FULL_SPEED], list);
  await site.arrival('/hang');
  await vi.waitFor(async () => {
    const [records = ''] = await Array.fromAsync(glob(join(workplace.folder, 'output/r/*.jsonl')));
    expect((await readFile(records, 'utf8')).split('\n')).toHaveLength(41);
  }, 10_000);
  await rm(join(workplace.folder, path), { recursive: true });
  const { code, stderr } = await crawl.ended;
  expect(code).toBe(1);
  expect(stderr).toMatch(said);
  expect(stderr).toContain('begin a new one');
});
