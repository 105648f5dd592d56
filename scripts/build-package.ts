import { execFileSync } from 'node:child_process';
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** `npm pack` runs this: compiles the program into `dist/`, beside the files that it reads while it runs. */
const ROOT = join(import.meta.dirname, '..');
const DIST = join(ROOT, 'dist');

rmSync(DIST, { recursive: true, force: true });
execFileSync('tsc', ['-p', 'tsconfig.build.json'], { cwd: ROOT, stdio: 'inherit' });
for (const folder of ['services', 'shared']) {
  const isCode = /\.ts$/;
  cpSync(join(ROOT, folder), join(DIST, folder), { recursive: true, filter: (path) => !isCode.test(path) });
}
