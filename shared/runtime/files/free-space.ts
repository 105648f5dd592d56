import { statfs } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { codeOf } from '../errors.ts';

/** Free bytes on the disk of a folder, for those without special rights; of the nearest folder above it while it isn't there. */
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
