import { readFileSync } from 'node:fs';
import { totalmem } from 'node:os';
import type { Logger } from './logger.ts';

/** Limit to assume if it can't be read: more than a process will ever use. */
const UNKNOWN_FILES = 1_000_000;

/** Least memory that is enough: neither pages of 5 MB nor 2,000 hosts at once got the process killed. With 180 MiB, the pages did. */
const LEAST_MEMORY = 200 * 2 ** 20;

/** Number of processes that share the memory, including this one. */
let sharers = 1;

/** Declares this process one of several of its kind in the same container or on the same machine. Call it before any measurement. */
export function shareMemoryAmong(processes: number): void {
  sharers = processes;
}

/** Returns the bytes of memory this process may use: its share of the container's limit (cgroup v1 or v2) or the machine's memory. */
export function memoryLimit(): number {
  const constrained = process.constrainedMemory();
  return Math.floor((constrained > 0 && constrained < totalmem() ? constrained : totalmem()) / sharers);
}

/** Memory that the program itself, its libraries and the engine take before the first page. */
const PROGRAM_BYTES = 160 * 2 ** 20;
/** Share of the rest for bodies. Each exists twice until it is decoded, and stays in memory for a while after it was last used. */
const BODY_SHARE = 0.25;
const LEAST_BODY_BYTES = 8 * 2 ** 20;

/** Returns the bytes that bodies may take in a process with this memory limit. */
export function bodyMemoryOf(limit: number): number {
  return Math.max(LEAST_BODY_BYTES, Math.floor((limit - PROGRAM_BYTES) * BODY_SHARE));
}

/** Warns if this process has so little memory that the kernel might kill it. */
export function warnOfLittleMemory(log: Pick<Logger, 'warn'>, limit = memoryLimit()): void {
  if (limit >= LEAST_MEMORY) return;
  const memoryMiB = Math.floor(limit / 2 ** 20);
  log.warn({ memoryMiB }, 'this process may be killed for lack of memory: give it 256 MiB or more');
}

/** Returns the maximum number of open files and sockets. Node.js raises the soft limit to the hard one when it starts. */
export function openFileLimit(): number {
  try {
    const soft = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
    return soft === undefined ? UNKNOWN_FILES : Number(soft);
  } catch {
    return UNKNOWN_FILES;
  }
}
