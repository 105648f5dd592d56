import { execFileSync } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { onTestFinished } from 'vitest';

/** A small disk for one test. */
export interface SmallDisk {
  grow(): void;
}

/** Mounts a disk of `kib` KiB in a folder. Resolves with `undefined` where mounting isn't allowed. */
export async function mountSmallDisk(
  folder: string,
  { kib = 64, options = '' }: { readonly kib?: number; readonly options?: string } = {},
): Promise<SmallDisk | undefined> {
  await mkdir(folder);
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${kib}k${options}`, 'tmpfs', folder], { stdio: 'ignore' });
  } catch {
    return undefined;
  }
  onTestFinished(() => void execFileSync('umount', [folder]));
  return { grow: () => void execFileSync('mount', ['-o', 'remount,size=16m', folder]) };
}
