import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pageUrl } from '../origin.ts';
import type { Bench } from '../rows.ts';

/** Writes the URLs of this many pages of the one fast host, one per line. @returns the file */
export async function writeList({ folder, origin }: Bench, name: string, pages: number): Promise<string> {
  const urls = Array.from({ length: pages }, (_, n) => pageUrl(origin, name, n));
  return await writeUrls(folder, name, urls);
}

/** Writes URLs, one per line. @returns the file */
export async function writeUrls(folder: string, name: string, urls: readonly string[]): Promise<string> {
  const file = join(folder, `${name}.txt`);
  await writeFile(file, urls.join('\n'));
  return file;
}
