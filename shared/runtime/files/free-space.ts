import { statfs } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { codeOf } from '../errors.ts';

/** Returns the bytes free for unprivileged users on a folder's disk. If it doesn't exist, uses the nearest folder above it. */
export async function freeSpaceOf(folder: string): Promise<number> {
  const path = resolve(folder);
  try {
    const { bavail, bsize } = await statfs(path);
    return bavail * bsize;
  } catch (error: unknown) {
    if (codeOf(error) !== 'ENOENT' || path === dirname(path)) throw error;
    return await freeSpaceOf(dirname(path));
  }
}
