import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../../..');
const PARTS = ['services', 'shared', 'crawlers', 'examples', 'test', 'bench', 'scripts'];
const MOST = 22;

function filesByFolder(folder: string): [string, number][] {
  const entries = readdirSync(join(ROOT, folder), { withFileTypes: true });
  const inside = entries.filter((e) => e.isDirectory() && !['node_modules', 'dist'].includes(e.name));
  return [
    [folder, entries.filter((e) => e.isFile()).length],
    ...inside.flatMap((e) => filesByFolder(join(folder, e.name))),
  ];
}

it('no folder has more files than a reader takes in at a glance', () => {
  const folders = PARTS.flatMap(filesByFolder);
  expect(folders.length).toBeGreaterThan(100);
  expect(folders.filter(([, files]) => files > MOST)).toEqual([]);
});
