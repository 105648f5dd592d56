import { readFileSync } from 'node:fs';

/**
 * Returns the id of the machine's boot, or '' if it can't be known. What a process wrote outlasts the process, but only what was
 * synced to the disk outlasts the boot.
 */
export function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return '';
  }
}
