import { readFileSync } from 'node:fs';

/**
 * The id of the machine's boot; nothing where it can't be known. What a process wrote outlasts the process, but only what
 * the disk was told outlasts the boot.
 */
export function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return '';
  }
}
