import { globSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../../..');
const PARTS = ['services', 'shared', 'crawlers', 'examples', 'test', 'bench', 'scripts'];
const MOST = 22;
const MOST_LINES = 350;

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

it('no file is longer than a reader keeps in mind', () => {
  const files = PARTS.flatMap((part) =>
    globSync(`${part}/**/*.{ts,tsx,lua,sql,css}`, { cwd: ROOT, exclude: ['**/{dist,node_modules}/**'] }),
  );
  expect(files.length).toBeGreaterThan(1_000);
  const linesOf = (file: string) => readFileSync(join(ROOT, file), 'utf8').split('\n').length - 1;
  expect(files.map((file) => [file, linesOf(file)] as const).filter(([, lines]) => lines > MOST_LINES)).toEqual([]);
});
