import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { messageOf, UnavailableError } from '../../../shared/runtime/errors.ts';

const PACKAGE = createRequire(import.meta.url).resolve('trawl/package.json');
const ROOT = dirname(PACKAGE);
/** This program runs from a checkout, which must be compiled before it is packed. */
const IS_CHECKOUT = import.meta.url.endsWith('.ts');
const BUILD = 'scripts/build-package.ts';
/** The files needed to compile a checkout. */
const BUILT_WITH = [BUILD, 'node_modules/.bin/tsc', 'node_modules/.bin/vite'];
const run = promisify(execFile);

/**
 * Packs this program into a folder, so that exactly this version is installed there. Trawl is in no registry, and a package of that name
 * in one would be somebody else's.
 *
 * @returns the name of the packed file
 * @throws UnavailableError if npm can't be run, or fails
 */
export async function packProgram(folder: string): Promise<string> {
  if (process.versions.pnp !== undefined) {
    const mend = 'set nodeLinker: node-modules in .yarnrc.yml, and install again';
    throw new UnavailableError(`this program can't be packed from within Yarn's archive: ${mend}`);
  }
  if (IS_CHECKOUT) expectCompiler(ROOT);
  try {
    return await copied((copy) => pack(copy, folder));
  } catch (error: unknown) {
    const hasNoNpm = error instanceof Error && 'syscall' in error && error.syscall === 'spawn npm';
    const what = hasNoNpm ? 'npm, which comes with Node.js, is not in PATH' : messageOf(error);
    throw new UnavailableError(`this program can't be packed with npm pack: ${what}`, { cause: error });
  }
}

/**
 * Checks that a checkout has a compiler. Container images have none, nor has a checkout after `npm ci --omit=dev`.
 *
 * @throws UnavailableError if it is missing
 */
export function expectCompiler(root: string): void {
  if (BUILT_WITH.every((file) => existsSync(join(root, file)))) return;
  const mend = 'npm ci --include=dev, in a checkout';
  throw new UnavailableError(`this program can't be packed, since its compiler isn't installed: ${mend}`);
}

/** The packages for testing and editing crawlers, in the exact versions that this program is tested with. Yarn installs no peer of vitest by itself. */
export function developmentPackages(): Readonly<Record<string, string>> {
  const { devDependencies } = JSON.parse(readFileSync(PACKAGE, 'utf8'));
  return Object.fromEntries(['@types/node', 'vite', 'vitest'].map((name) => [name, devDependencies[name]]));
}

async function pack(root: string, folder: string): Promise<string> {
  const flags = ['--ignore-scripts', '--json', '--pack-destination', folder];
  const { stdout } = await run('npm', ['pack', ...flags], { cwd: root });
  const [{ filename }] = JSON.parse(stdout) as [{ readonly filename: string }];
  return filename;
}

/**
 * Copies the program into a temporary folder: a checkout is compiled, which several processes may do at once, and npm can't pack a package
 * in place that pnpm has installed ("Exit handler never called!", npm 11).
 */
async function copied<T>(use: (copy: string) => Promise<T>): Promise<T> {
  const copy = await mkdtemp(join(tmpdir(), 'trawl-pack-'));
  try {
    if (IS_CHECKOUT) await run(process.execPath, [BUILD, join(copy, 'dist')], { cwd: ROOT });
    for (const each of ['package.json', 'bin', 'LICENSE', 'README.md', ...(IS_CHECKOUT ? [] : ['dist'])])
      await cp(join(ROOT, each), join(copy, each), { recursive: true });
    return await use(copy);
  } finally {
    await rm(copy, { recursive: true });
  }
}
