import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { usableCores } from '../../../../shared/runtime/cores.ts';

/** Returns the usable cores of a machine with 8, whose control groups are described by these files. */
function coresWith(files: Readonly<Record<string, string>>): number {
  const root = mkdtempSync(join(tmpdir(), 'trawl-cores-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), `${text}\n`);
  }
  return usableCores({ root, cores: 8 });
}

const V2 = { 'proc/self/cgroup': '0::/' };
const V1 = { 'proc/self/cgroup': '9:memory:/docker/abc\n3:cpu,cpuacct:/docker/abc\n0::/' };

// biome-ignore format: a table
test.each<[string, Readonly<Record<string, string>>, number]>([
  ['no control groups',              {},                                                                              8],
  ['v2 without a limit',             { ...V2, 'sys/fs/cgroup/cpu.max': 'max 100000' },                                8],
  ['v2, two cores',                  { ...V2, 'sys/fs/cgroup/cpu.max': '200000 100000' },                             2],
  ['v2, one and a half',             { ...V2, 'sys/fs/cgroup/cpu.max': '150000 100000' },                             2],
  ['v2, a quarter of one',           { ...V2, 'sys/fs/cgroup/cpu.max': '25000 100000' },                              1],
  ['v2, more than there are',        { ...V2, 'sys/fs/cgroup/cpu.max': '1600000 100000' },                            8],
  ['v2, the limit of a group above', { 'proc/self/cgroup': '0::/a/b', 'sys/fs/cgroup/a/cpu.max': '300000 100000',
                                       'sys/fs/cgroup/a/b/cpu.max': 'max 100000' },                                   3],
  ['v1 without a limit',             { ...V1, 'sys/fs/cgroup/cpu/cpu.cfs_quota_us': '-1',
                                       'sys/fs/cgroup/cpu/cpu.cfs_period_us': '100000' },                             8],
  ['v1, three cores in a container', { ...V1, 'sys/fs/cgroup/cpu/cpu.cfs_quota_us': '300000',
                                       'sys/fs/cgroup/cpu/cpu.cfs_period_us': '100000' },                             3],
  ['v1, its own group',              { ...V1, 'sys/fs/cgroup/cpu/docker/abc/cpu.cfs_quota_us': '400000',
                                       'sys/fs/cgroup/cpu/docker/abc/cpu.cfs_period_us': '100000' },                  4],
  ['files that say nothing',         { ...V2, 'sys/fs/cgroup/cpu.max': '' },                                          8],
])('%s', (_, files, cores) => {
  expect(coresWith(files)).toBe(cores);
});

test('this machine has at least one usable core, and no more than exist', () => {
  expect(usableCores()).toBeGreaterThanOrEqual(1);
  expect(usableCores()).toBeLessThanOrEqual(availableParallelism());
});
