import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { isBeingCrawled } from '../../../../../shared/stores/sqlite/local-runs.ts';
import { newFolder } from '../../../../support/stores/kept-store.ts';

test('a run whose lock no process can take, since the disk is full or the file is no lock, belongs to nobody', async () => {
  const folder = await newFolder();
  await mkdir(join(folder, 'r'));
  await writeFile(join(folder, 'r', 'crawl.lock'), 'no database'.repeat(100));
  expect(isBeingCrawled('r', folder)).toBe(false);
});
