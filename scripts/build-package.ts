import { execFileSync } from 'node:child_process';
import { cpSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** `npm pack` runs this: compiles the program into `dist/`, or the folder that is named, beside the files that it reads while it runs. */
const ROOT = join(import.meta.dirname, '..');
const DIST = resolve(process.argv[2] ?? join(ROOT, 'dist'));

rmSync(DIST, { recursive: true, force: true });
execFileSync(join(ROOT, 'node_modules/.bin/tsc'), ['-p', 'tsconfig.build.json', '--outDir', DIST], {
  cwd: ROOT,
  stdio: 'inherit',
});
for (const folder of ['services', 'shared']) {
  const isCode = /\.ts$/;
  cpSync(join(ROOT, folder), join(DIST, folder), { recursive: true, filter: (path) => !isCode.test(path) });
}
