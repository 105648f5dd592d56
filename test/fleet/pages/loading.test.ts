import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { AT_FULL_SPEED } from '../../support/full-speed.ts';
import { openFleet } from '../../support/processes/fleet.ts';
import type { Workplace } from '../../support/processes/trawl.ts';

/** The text of a crawler whose product pages go to their own step by a pattern. */
function shopOf(version: number, strict = false): string {
  return `import { defineCrawler } from 'trawl';
export default defineCrawler({
  name: 'shop',${strict ? '\n  strictVersion: true,' : ''}
  patterns: { product: '/page/*' },
  steps: { list: { to: ['product'], run() {} }, product: { run({ emit }) { emit({ version: ${version} }); } } },
});
`;
}

/** Writes a crawler into its own folder. */
async function write({ folder }: Workplace, name: string, text: string): Promise<string> {
  await mkdir(join(folder, name));
  await writeFile(join(folder, name, 'shop.ts'), text);
  return `./${name}/shop.ts`;
}

test('a producer and a worker can load the same crawler from different paths', async () => {
  const { workplace, site } = await openFleet();
  const [here, there] = [await write(workplace, 'here', shopOf(1)), await write(workplace, 'there', shopOf(1))];
  const worker = workplace.start(['work', '--crawler', there, ...AT_FULL_SPEED]);
  await worker.says(/consuming/);
  const seed = site.url('/page/1');
  const args = ['produce', seed, '--run', 'r', '--crawler', here, '--wait', '--json', ...AT_FULL_SPEED];
  const { code, stdout, stderr } = await workplace.start(args).ended;
  expect([code, JSON.parse(stdout)], stderr).toMatchObject([0, { done: 1, steps: { product: { done: 1 } } }]);
  worker.signal('SIGTERM');
  await worker.ended;
  expect(await workplace.records('r')).toMatchObject([
    { crawler: 'shop', step: 'product', version: expect.stringMatching(/^[0-9a-f]{8}$/), data: { version: 1 } },
  ]);
});

test('with strictVersion a worker with another version of the crawler leaves the run to workers with the first one', async () => {
  const { workplace, site } = await openFleet();
  const [first, second] = [
    await write(workplace, 'first', shopOf(1, true)),
    await write(workplace, 'second', shopOf(2, true)),
  ];
  const other = workplace.start(['work', '--crawler', second, ...AT_FULL_SPEED]);
  await other.says(/consuming/);
  const args = ['produce', site.url('/page/1'), '--run', 'r', '--crawler', first, ...AT_FULL_SPEED];
  expect((await workplace.run(args)).code).toBe(0);
  await other.says(/it began with version [0-9a-f]{8} of crawler .+, which says strictVersion/);
  expect(await workplace.json(['status', 'r'])).toMatchObject({ state: 'running', done: 0, failed: 0 });
  other.signal('SIGTERM');
  await other.ended;
  const own = workplace.start(['work', '--crawler', first, ...AT_FULL_SPEED]);
  await expect.poll(async () => (await workplace.json(['status', 'r'])).done).toBe(1);
  own.signal('SIGTERM');
  await own.ended;
  expect(await workplace.records('r')).toMatchObject([{ data: { version: 1 }, attempt: 1 }]);
});
