import { execFileSync } from 'node:child_process';
import { cpSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { readCommandLine } from '../bench/command-line.ts';

const ROOT = join(import.meta.dirname, '..');
const {
  operands: [folder = join(ROOT, 'dist')],
} = readCommandLine(
  `node scripts/build-package.ts [FOLDER]
Compiles the program into dist/, or FOLDER, beside the files that it reads while it runs. npm pack runs it.`,
  {},
  [0, 1],
);
const DIST = resolve(folder);

rmSync(DIST, { recursive: true, force: true });
// What it makes is the same without the checks, which take two thirds of the time, and are `npm run check`'s.
runTool('tsc', ['-p', 'tsconfig.build.json', '--noCheck', '--outDir', DIST]);
// The dashboard's source isn't read by anybody: only what was made of it goes along.
const DASHBOARD = 'services/api/dashboard';
// Nothing is written beside the source: whoever runs `trawl init` may only be allowed to read it.
runTool('vite', [
  ...['build', '--config', `${DASHBOARD}/vite.config.ts`, '--configLoader', 'native', '--logLevel', 'warn'],
  ...['--outDir', join(DIST, DASHBOARD, 'dist'), '--emptyOutDir'],
]);
for (const part of ['services', 'shared']) {
  const isCode = /\.ts$/;
  const isOfDashboard = (path: string): boolean => path.startsWith(join(ROOT, DASHBOARD));
  const filter = (path: string): boolean => !isCode.test(path) && !isOfDashboard(path);
  cpSync(join(ROOT, part), join(DIST, part), { recursive: true, filter });
}

/** By this Node.js: the first in PATH may be an older one, which the tools' own first lines would start. */
function runTool(name: string, args: readonly string[]): void {
  execFileSync(process.execPath, [join(ROOT, 'node_modules/.bin', name), ...args], { cwd: ROOT, stdio: 'inherit' });
}
