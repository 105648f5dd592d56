import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { AT_FULL_SPEED } from '../../support/full-speed.ts';
import { openHostileSites } from '../../support/hostile/sites.ts';
import type { HostileUsage } from '../../support/hostile/usage-hook.ts';
import { openFleet } from '../../support/processes/fleet.ts';

const SEED = 9;
const HOSTILE_PAGES = 500;
const GOOD_PAGES = 100;
const MAX_RSS_MB = 600;
const MAX_TURN_MS = 500;
/** If the hook's yardstick takes longer than this, the machine is slower, and a turn may take longer. */
const YARDSTICK_MS = 6;
const HOOK = join(import.meta.dirname, '../../support/hostile/usage-hook.ts');

test('among 500 hostile pages a worker stays responsive and small, and fetches every good page', {
  timeout: 300_000,
}, async () => {
  const { workplace, site } = await openFleet({ pages: GOOD_PAGES });
  const hostile = await openHostileSites({ seed: SEED, count: HOSTILE_PAGES });
  const good = Array.from({ length: GOOD_PAGES }, (_, n) => site.url(`/page/${n + 1}`));
  const usage = join(workplace.folder, 'usage.json');
  const env = { NODE_OPTIONS: `--import ${HOOK}`, HOSTILE_USAGE: usage };
  const limits = ['--worker-concurrency', '64', '--fetch-timeout', '10s'];
  const worker = workplace.start(['work', ...limits, ...AT_FULL_SPEED], undefined, { env });
  await worker.says(/consuming/);
  worker.signal('SIGUSR2');
  // A good page after every few hostile ones.
  const step = Math.floor(hostile.length / GOOD_PAGES);
  const urls = hostile.flatMap((url, n) => [url, ...(n % step === 0 ? good.splice(0, 1) : [])]).concat(good);
  // All links are checked, but none matches.
  const flags = ['--max-attempts', '1', '--content', 'text', '--follow', '--include', '/nowhere/*', ...AT_FULL_SPEED];
  const summary = await workplace.json(['produce', '-', '--run', 'mine', '--wait', ...flags], urls.join('\n'));
  expect(summary).toMatchObject({ state: 'finished', discovered: urls.length, waiting: 0, inFlight: 0 });
  worker.signal('SIGTERM');
  expect((await worker.ended).code).toBe(0);

  const [pages, failures] = [await workplace.records('mine'), await workplace.records('mine', '--failed')];
  expect([pages.length, failures.length]).toEqual([summary.done, summary.failed]);
  const isGood = ({ url }: { readonly url: string }): boolean => url.startsWith(site.origin);
  expect([failures.filter(isGood), pages.filter(isGood).length]).toEqual([[], GOOD_PAGES]);

  const { longestTurnMs, yardstickMs, maxRssMb } = JSON.parse(await readFile(usage, 'utf8')) as HostileUsage;
  expect(maxRssMb).toBeLessThan(MAX_RSS_MB);
  expect(longestTurnMs).toBeLessThan(MAX_TURN_MS * Math.max(1, yardstickMs / YARDSTICK_MS));
});
