import { readFileSync } from 'node:fs';
import { totalmem } from 'node:os';

/** Where the limit can't be read: more than anybody would reach. */
const UNKNOWN_FILES = 1_000_000;

/** The bytes of memory that this process may use: its container's limit (cgroup v1 or v2), or the machine's memory. */
export function memoryLimit(): number {
  const constrained = process.constrainedMemory();
  return constrained > 0 && constrained < totalmem() ? constrained : totalmem();
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
