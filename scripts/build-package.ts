import { execFileSync } from 'node:child_process';
import { cpSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { readCommandLine } from '../bench/command-line.ts';

const ROOT = join(import.meta.dirname, '..');
const {
  operands: [folder = join(ROOT, 'dist')],
} = readCommandLine(
  `node scripts/build-package.ts [FOLDER]
Compiles the program into dist/, or FOLDER, and copies the files that it reads at run time. npm pack runs it.`,
  {},
  [0, 1],
);
const DIST = resolve(folder);

rmSync(DIST, { recursive: true, force: true });
// Without type checks the output is the same in a third of the time; `npm run check` checks types.
runTool('tsc', ['-p', 'tsconfig.build.json', '--noCheck', '--outDir', DIST]);
// Nothing reads the dashboard's source at run time, so only its build goes into the package.
const DASHBOARD = 'services/api/dashboard';
// Writes nothing beside the source, which may be read-only for the user that runs `trawl init`.
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

/** Runs a tool with this Node.js. The tools' shebang lines would start the first one in PATH, which may be older. */
function runTool(name: string, args: readonly string[]): void {
  execFileSync(process.execPath, [join(ROOT, 'node_modules/.bin', name), ...args], { cwd: ROOT, stdio: 'inherit' });
}
