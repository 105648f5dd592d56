import { existsSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { ConfigurationError } from '../runtime/errors.ts';
import { Crawler } from './crawler.ts';
import { loadProblems } from './load-problem.ts';
import { resolveOwnImport } from './own-import.ts';
import { shownPath } from './place.ts';
import { versionOf } from './version.ts';
import { Watchdog } from './watchdog/watchdog.ts';

/** A crawler and where it is from. */
export interface LoadedCrawler {
  readonly crawler: Crawler;
  /** See {@link versionOf}. */
  readonly version: string;
  /** As users would type it. */
  readonly file: string;
}

/** The longest that the module of a crawler may take to import. */
export const LOAD_TIMEOUT_MS = 10_000;
/** Of a {@link ConfigurationError}. */
const CONFIGURATION_EXIT = 78;

/**
 * Imports modules, each of whose default export is to be a crawler, one after the other. What is wrong with them comes in
 * `problems`, all of it: file, line where one is known, and what is wrong. A module that never lets go of the process ends it,
 * with what was found until then, unless nobody watches.
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
    exitCode: CONFIGURATION_EXIT,
    lastWords: () => lastWords(problems, files.slice(at)),
  });
  if (isWatched && files.length > 0) await watchdog.start();
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

function lastWords(problems: readonly string[], [file = '', ...others]: readonly string[]): readonly string[] {
  const rest = others.length === 0 ? [] : [`Not looked at yet: ${others.map(shownPath).join(', ')}`];
  return [`${shownPath(file)} takes longer than ${LOAD_TIMEOUT_MS / 1_000} s to load.`, ...problems, ...rest];
}

/** @throws ConfigurationError */
async function loadFile(file: string): Promise<LoadedCrawler> {
  const shown = shownPath(file);
  if (!existsSync(file)) throw new ConfigurationError([`there is no ${shown}`]);
  resolveOwnImport();
  let module: { readonly default?: unknown } | 'late';
  try {
    module = await inTime(import(pathToFileURL(file).href));
  } catch (error: unknown) {
    throw new ConfigurationError(loadProblems(file, error), { cause: error });
  }
  if (module === 'late')
    throw new ConfigurationError([`${shown} takes longer than ${LOAD_TIMEOUT_MS / 1_000} s to load`]);
  if (module.default instanceof Crawler) return { crawler: module.default, version: versionOf(file), file: shown };
  throw new ConfigurationError([
    `expected ${shown} to export a crawler: export default defineCrawler({ name: 'shop', step: (page) => ({ … }) })`,
  ]);
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
