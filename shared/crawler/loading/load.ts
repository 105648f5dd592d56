import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { ConfigurationError, EXIT_CONFIGURATION } from '../../runtime/errors.ts';
import { moduleBeside } from '../../runtime/module-beside.ts';
import { refuseExit } from '../../runtime/process-exit.ts';
import { FolderMiddleware, type Middleware, middlewareProblems } from '../around/middleware.ts';
import { Crawler } from '../crawler.ts';
import { shownPath } from '../failures/place.ts';
import { Watchdog } from '../watchdog/watchdog.ts';
import { MIDDLEWARE_FILES } from './crawler-files.ts';
import { loadProblems } from './load-problem.ts';
import { resolveOwnImport } from './own-import.ts';
import { versionOf } from './version.ts';

/** A crawler and its origin. */
export interface LoadedCrawler {
  readonly crawler: Crawler;
  /** See {@link versionOf}. */
  readonly version: string;
  /** Its path, as a user would type it. */
  readonly file: string;
}

/** Files whose modules Node.js has cached: importing them again takes no time, so the watchdog isn't needed. */
const imported = new Set<string>();
/** Longest time for importing the module of a crawler. */
const LOAD_TIMEOUT_MS = 10_000;

/**
 * Imports modules, one after the other; the default export of each must be a crawler. Returns every problem: file, line where known, and
 * message. If a module blocks the event loop forever, the watchdog ends this process, after another process has printed the problems of
 * the remaining modules. `isWatched: false` runs without the watchdog.
 */
export async function loadFiles(
  files: readonly string[],
  { isWatched = true }: { readonly isWatched?: boolean } = {},
): Promise<{ readonly loaded: readonly LoadedCrawler[]; readonly problems: readonly string[] }> {
  const loaded: LoadedCrawler[] = [];
  const problems: string[] = [];
  let at = 0;
  const watchdog = new Watchdog({
    stuckAfterMs: LOAD_TIMEOUT_MS,
    exitCode: EXIT_CONFIGURATION,
    lastWords: () => lastWords(problems, files[at] ?? ''),
    lastCommand: () => checkOf(files.slice(at + 1)),
  });
  if (isWatched && !files.every(isImported)) await watchdog.start();
  refuseExit();
  try {
    for (; at < files.length; at++) {
      watchdog.tell();
      try {
        loaded.push(await loadFile(files[at] as string));
      } catch (error: unknown) {
        if (!(error instanceof ConfigurationError)) throw error;
        problems.push(...error.problems);
      }
    }
  } finally {
    await watchdog.stop();
  }
  return { loaded, problems };
}

function lastWords(problems: readonly string[], file: string): readonly string[] {
  return [`${shownPath(file)} takes longer than ${LOAD_TIMEOUT_MS / 1_000} s to load.`, ...problems];
}

/** Returns the arguments of a Node.js process that checks these files. */
function checkOf(files: readonly string[]): readonly string[] {
  if (files.length === 0) return [];
  return [...process.execArgv, fileURLToPath(moduleBeside(import.meta.url, './load-check')), ...files];
}

/** @throws ConfigurationError */
async function loadFile(file: string): Promise<LoadedCrawler> {
  const shown = shownPath(file);
  if (!existsSync(file)) throw new ConfigurationError([`there is no ${shown}`]);
  const module = await importOwn(file);
  if (module.default instanceof Crawler) {
    const around = await folderMiddleware(dirname(file));
    const crawler = module.default.withMiddleware(around?.list ?? []);
    return { crawler, version: versionOf(file, ...(around === undefined ? [] : [around.file])), file: shown };
  }
  throw new ConfigurationError([
    `expected ${shown} to export a crawler: export default defineCrawler({ name: 'shop', step: (page) => ({ … }) })`,
  ]);
}

/** Loads the middleware of a folder, if it has any. @throws ConfigurationError */
async function folderMiddleware(
  folder: string,
): Promise<{ readonly list: readonly Middleware[]; readonly file: string } | undefined> {
  const file = middlewareFileOf(folder);
  if (file === undefined) return undefined;
  const { default: found } = await importOwn(file);
  if (!(found instanceof FolderMiddleware)) {
    const how = 'export default defineMiddleware({ name, beforeFetch() {} })';
    throw new ConfigurationError([`expected ${shownPath(file)} to export the middleware of its folder: ${how}`]);
  }
  const problems = middlewareProblems(found.list);
  if (problems.length > 0) throw new ConfigurationError(problems.map((each) => `${shownPath(file)}: ${each}`));
  return { list: found.list, file };
}

function middlewareFileOf(folder: string): string | undefined {
  return MIDDLEWARE_FILES.map((name) => join(folder, name)).find((each) => existsSync(each));
}

function isImported(file: string): boolean {
  const around = middlewareFileOf(dirname(file));
  return imported.has(file) && (around === undefined || imported.has(around));
}

/** @throws ConfigurationError */
async function importOwn(file: string): Promise<{ readonly default?: unknown }> {
  resolveOwnImport();
  let module: { readonly default?: unknown } | 'late';
  try {
    module = await inTime(import(pathToFileURL(file).href));
  } catch (error: unknown) {
    throw new ConfigurationError(loadProblems(file, error), { cause: error });
  }
  if (module !== 'late') {
    const added = [...fieldsOfAllObjects()];
    if (added.length > 0)
      throw new ConfigurationError([
        `${shownPath(file)} adds a field to every object (Object.prototype), or imports a module that does: ${added.join(', ')}. Object.defineProperty adds one that loops skip`,
      ]);
    imported.add(file);
    return { default: defaultOf(module) };
  }
  throw new ConfigurationError([`${shownPath(file)} takes longer than ${LOAD_TIMEOUT_MS / 1_000} s to load`]);
}

/** Yields fields that were added to `Object.prototype`. Every loop over an object's fields meets them, so they would end up in rows and messages. */
function* fieldsOfAllObjects(): Generator<string> {
  for (const name in {}) yield name;
}

/** Returns the default export. In CommonJS that TypeScript compiled from a module, it is a field of the exports. */
function defaultOf({ default: given }: { readonly default?: unknown }): unknown {
  const isMade = typeof given === 'object' && given !== null && '__esModule' in given && 'default' in given;
  return isMade ? given.default : given;
}

async function inTime<T>(loading: Promise<T>): Promise<T | 'late'> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<'late'>((resolve) => {
    timer = setTimeout(resolve, LOAD_TIMEOUT_MS, 'late');
  });
  try {
    return await Promise.race([loading, late]);
  } finally {
    clearTimeout(timer);
  }
}
