import { readFileSync } from 'node:fs';
import { totalmem } from 'node:os';

/** Where the limit can't be read: more than anybody would reach. */
const UNKNOWN_FILES = 1_000_000;

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

/** How many files and sockets this process may have open. Node.js has raised the soft limit to the hard one at its start. */
export function openFileLimit(read = (): string => readFileSync('/proc/self/limits', 'utf8')): number {
  try {
    const soft = /^Max open files +(\d+)/m.exec(read())?.[1];
    return soft === undefined ? UNKNOWN_FILES : Number(soft);
  } catch {
    return UNKNOWN_FILES;
  }
}
