import { readFileSync, truncateSync } from 'node:fs';
import { linesOf } from './reading.ts';

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

/**
 * Cuts a journal off where the disk may not have the records that it speaks of: what came after the last `synced` line's
 * mark, if the machine was started again since. Otherwise, or where that can't be known to have happened, nothing is cut
 * but what was written since then.
 */
export function cutAfterPowerCut(path: string): void {
  const boot = bootId();
  let [offset, safe] = [0, 0];
  let lastBoot = '';
  for (const { fields, number } of linesOf(path)) {
    const start = offset;
    offset += Buffer.byteLength(fields.join('\t')) + 1;
    if (number === 1) safe = offset;
    if (fields[0] === 'session') lastBoot = fields[3] ?? '';
    // A line that speaks of all before it is the last word of a process that ended in order: it stays.
    if (fields[0] === 'synced') safe = Number(fields[1]) === start ? offset : Number(fields[1]);
  }
  if ((boot === '' || lastBoot !== boot) && safe < offset) truncateSync(path, safe);
}
