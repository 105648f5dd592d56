import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { MAX_LINKS_LENGTH, MAX_RECORD_BYTES } from '../../../shared/task/task/page-limits.ts';
import { AT_FULL_SPEED } from '../../support/full-speed.ts';
import type { HostileUsage } from '../../support/hostile/usage-hook.ts';
import { openWorkplace } from '../../support/processes/trawl.ts';
import { TestSite } from '../../support/site.ts';

const HOOK = join(import.meta.dirname, '../../support/hostile/usage-hook.ts');
const PAGES = 40;
const SLOTS = 16;
const MAX_BODY_BYTES = 10 * 1024 ** 2;
/** Per page in hand: its body, twice while it is put together, its links, and its record line on the way to the disk. */
const MAX_IN_HAND_BYTES = 2 * MAX_BODY_BYTES + 2 * MAX_LINKS_LENGTH + 2 * MAX_RECORD_BYTES;
/** The program itself, one page that is being read, and garbage that V8 hasn't collected yet. */
const MAX_BESIDE_MB = 450;

/** A page of the largest size in all its parts; in JSON its content takes six times its length. */
function largestPage(): string {
  const links = Array.from({ length: 10_000 }, (_, n) => `<a href="/${'x'.repeat(70)}${n}"></a>`).join('');
  const head = `<title>${'€'.repeat(2_000)}</title>${links}`;
  return head + '\u0001'.repeat(MAX_BODY_BYTES - Buffer.byteLength(head));
}

test('the memory of a crawl stays below its slots times the largest page, plus a fixed rest', {
  timeout: 200_000,
}, async () => {
  const [site, html] = [new TestSite(), largestPage()];
  await site.start();
  onTestFinished(() => site.stop());
  const paths = Array.from({ length: PAGES }, (_, n) => `/large/${n}`);
  for (const path of paths)
    site.on(path, (_, response) => void response.setHeader('content-type', 'text/html').end(html));
  const workplace = await openWorkplace();
  const usage = join(workplace.folder, 'usage.json');
  const env = { NODE_OPTIONS: `--import ${HOOK}`, HOSTILE_USAGE: usage };
  const flags = ['--run', 'mine', '--content', 'html', '--worker-concurrency', String(SLOTS), ...AT_FULL_SPEED];
  const list = paths.map((path) => site.url(path)).join('\n');
  const { code, stdout, stderr } = await workplace.start(['crawl', '-', '--json', ...flags], list, { env }).ended;
  expect(code, stderr).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ done: PAGES });
  const { maxRssMb } = JSON.parse(await readFile(usage, 'utf8')) as HostileUsage;
  expect(maxRssMb).toBeLessThan(MAX_BESIDE_MB + (SLOTS * MAX_IN_HAND_BYTES) / 1024 ** 2);
  const records = await workplace.records('mine');
  expect(records.length).toBe(PAGES);
  expect(records[0].truncated).toEqual(['content']);
  const csv = (await workplace.run(['records', 'mine', '--format', 'csv'])).stdout.split('\r\n');
  const column = csv[0]?.split(',').indexOf('truncated') ?? -1;
  expect(csv[1]?.split(',')[column]).toBe('content');
});
