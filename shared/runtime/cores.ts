import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';

interface CoresOptions {
  /** The folder that contains `/proc` and `/sys`. Defaults to `/`. */
  readonly root?: string;
  /** Defaults to the number of cores this process may run on. */
  readonly cores?: number;
}

/** Returns the number of cores available to this machine or container: its cores, or its CPU quota if less. At least one. */
export function usableCores({ root = '/', cores = availableParallelism() }: CoresOptions = {}): number {
  const quotas = groupsOf(read(join(root, 'proc/self/cgroup'))).map(({ version, path }) =>
    version === 2 ? quotaV2(join(root, 'sys/fs/cgroup'), path) : quotaV1(join(root, 'sys/fs/cgroup/cpu'), path),
  );
  return Math.max(1, Math.round(Math.min(cores, ...quotas)));
}

interface Group {
  readonly version: 1 | 2;
  readonly path: string;
}

/** Returns this process' control groups that limit CPU (cgroups(7)), given as `0::/path` in v2, `3:cpu,cpuacct:/path` in v1. */
function groupsOf(text: string): Group[] {
  return text.split('\n').flatMap((line): Group[] => {
    const [id, controllers = '', ...parts] = line.split(':');
    const path = parts.join(':');
    if (id === '0' && controllers === '') return [{ version: 2, path }];
    return controllers.split(',').includes('cpu') ? [{ version: 1, path }] : [];
  });
}

/** Returns the quota in cores. `cpu.max` contains microseconds of CPU time and of real time, or `max`. */
function quotaV2(mount: string, path: string): number {
  return least(mount, path, (group) => {
    const [quota, period] = read(join(group, 'cpu.max')).split(' ').map(Number);
    return ratio(quota, period);
  });
}

/** Returns the quota in cores. A value of -1 means no quota. */
function quotaV1(mount: string, path: string): number {
  return least(mount, path, (group) =>
    ratio(Number(read(join(group, 'cpu.cfs_quota_us'))), Number(read(join(group, 'cpu.cfs_period_us')))),
  );
}

function ratio(quota = Number.NaN, period = Number.NaN): number {
  return quota > 0 && period > 0 ? quota / period : Number.POSITIVE_INFINITY;
}

/** Returns the lowest quota of a group and all groups that contain it. In a container, its own group may be mounted as the root. */
function least(mount: string, path: string, quotaOf: (group: string) => number): number {
  let quota = quotaOf(mount);
  for (let at = path; at !== dirname(at); at = dirname(at)) quota = Math.min(quota, quotaOf(join(mount, at)));
  return quota;
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
