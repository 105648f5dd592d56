import { readFileSync } from 'node:fs';
import { totalmem } from 'node:os';
import type { Logger } from './logger.ts';

/** Where the limit can't be read: more than anybody would reach. */
const UNKNOWN_FILES = 1_000_000;

/** With 200 MiB, neither pages of 5 MB nor 2,000 hosts at once got the process killed; with 180 MiB, the pages did. */
const LEAST_MEMORY = 200 * 2 ** 20;

/** How many processes share the memory, this one included. */
let sharers = 1;

/** This process is one of several of its kind, in the same container or on the same machine. To be called before anything is measured. */
export function shareMemoryAmong(processes: number): void {
  sharers = processes;
}

/** The bytes of memory that this process may use: its part of its container's limit (cgroup v1 or v2), or of the machine's memory. */
export function memoryLimit(): number {
  const constrained = process.constrainedMemory();
  return Math.floor((constrained > 0 && constrained < totalmem() ? constrained : totalmem()) / sharers);
}

/** The program itself, its libraries and the engine take this much before the first page. */
const PROGRAM_BYTES = 160 * 2 ** 20;
/** Of what is left, the share of bodies: a body is there twice until it is decoded, and for a while after it is no longer needed. */
const BODY_SHARE = 0.25;
const LEAST_BODY_BYTES = 8 * 2 ** 20;

/** The bytes that bodies may take in a process that may use so much memory. */
export function bodyMemoryOf(limit: number): number {
  return Math.max(LEAST_BODY_BYTES, Math.floor((limit - PROGRAM_BYTES) * BODY_SHARE));
}

/** Says so if this process has so little memory that the kernel may end it. */
export function warnOfLittleMemory(log: Pick<Logger, 'warn'>, limit = memoryLimit()): void {
  if (limit >= LEAST_MEMORY) return;
  const memoryMiB = Math.floor(limit / 2 ** 20);
  log.warn({ memoryMiB }, 'this process may be killed for lack of memory: give it 256 MiB or more');
}

/** How many files and sockets this process may have open. Node.js has raised the soft limit to the hard one at its start. */
export function openFileLimit(): number {
  try {
    const soft = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
    return soft === undefined ? UNKNOWN_FILES : Number(soft);
  } catch {
    return UNKNOWN_FILES;
  }
}
