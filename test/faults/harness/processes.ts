import { readFileSync } from 'node:fs';
import type { Trawl } from '../../support/processes/trawl.ts';

/** Ticks per second in `/proc`. */
const TICKS = 100;
const PAGE_BYTES = 4_096;

/** CPU seconds used by a process so far. */
export function cpuSecondsOf({ pid }: Trawl): number {
  const fields = statOf(pid);
  return (Number(fields[11]) + Number(fields[12])) / TICKS;
}

/** Resident memory of a process in bytes. */
export function residentBytesOf({ pid }: Trawl): number {
  return Number(statOf(pid)[21]) * PAGE_BYTES;
}

/** The fields of `/proc/<pid>/stat` after the name, which may hold spaces. */
function statOf(pid: number | undefined): string[] {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}
