import { runOptionsOf } from '../../shared/control/run-options.ts';
import { argsOf, readArgs } from '../../shared/crawler/args.ts';
import type { Crawler } from '../../shared/crawler/crawler.ts';
import { kindOf } from '../../shared/crawler/document/reading.ts';
import { placesIn } from '../../shared/crawler/failures/place.ts';
import type { LoadedCrawler } from '../../shared/crawler/loading/load.ts';
import type { RunOptions } from '../../shared/ports/runs.ts';
import { ConfigurationError, EXIT_CONFIGURATION, messageOf, UsageError } from '../../shared/runtime/errors.ts';
import type { Settings } from '../../shared/settings/table.ts';
import { namesSitemap, readSeeds, type Seed } from '../producer/seeds.ts';
import { openWatchdog } from './open-watchdog.ts';

/** Interval between reminders while somebody waits for a crawler's seeds. */
const REMIND_MS = 30_000;

/** The part of a command line that is meant for a crawler. */
export interface CrawlerOptions {
  readonly urlsFile?: string[];
  /** Arguments, each as `name=value`. */
  readonly arg?: string[];
}

/** The options for asking a crawler for its own seeds. */
export interface AskingForSeeds {
  readonly settings: Pick<Settings, 'stepTimeout'>;
  /** Called every 30 s until they come. */
  readonly onWait?: (crawler: string, waitedMs: number) => unknown;
}

/** The input of a crawl: arguments and seeds. */
export interface CrawlerInput {
  /** The arguments as the run stores them. */
  readonly args: Pick<RunOptions, 'args'>;
  readonly seeds: readonly Seed[];
}

/** Returns the options of a run by this crawler. The crawler is stored by name, so that write access to a store doesn't allow choosing files. */
export function runOptionsFor(
  { crawler, version }: LoadedCrawler,
  settings: Settings,
  dedup: RunOptions['dedup'],
): RunOptions {
  const joins = crawler.joinPlan === undefined ? {} : { joins: crawler.joinPlan };
  return { ...runOptionsOf(settings, dedup), crawler: crawler.name, version, ...joins };
}

/**
 * Returns the given seeds of a crawl, or if there are none, the crawler's own. For a crawler with steps a site is a page: its first step
 * decides how to continue. So is a sitemap, a feed or a robots.txt that one of its patterns names as such, since a step reads it.
 *
 * A crawler's own seeds may take any time to come, but must not block the process: a function that does ends it, as a step would.
 *
 * @throws UsageError for arguments that the crawler refuses, and for invalid seeds
 */
export async function readCrawlerInput(
  crawler: Crawler,
  texts: readonly string[],
  { urlsFile, arg = [] }: CrawlerOptions,
  asking: AskingForSeeds,
): Promise<CrawlerInput> {
  const [given, args] = argsFor(crawler, arg);
  const isGiven = texts.length > 0 || urlsFile !== undefined;
  const seeds = isGiven ? await readSeeds(texts, urlsFile) : await ownSeeds(crawler, args, asking);
  return {
    args: arg.length === 0 ? {} : { args: given },
    seeds: crawler.pageFunction === undefined ? seeds.map((seed) => asPage(seed, crawler)) : seeds,
  };
}

/** Returns the arguments as they were typed, and as the crawler reads them. */
export function argsFor(crawler: Crawler, texts: readonly string[]): [Record<string, string>, unknown] {
  try {
    const given = readArgs(texts);
    return [given, argsOf(crawler, given)];
  } catch (error: unknown) {
    throw error instanceof ConfigurationError ? new UsageError(error.problems.join('\n')) : error;
  }
}

async function ownSeeds(
  { name, seeds }: Crawler,
  args: unknown,
  { settings, onWait }: AskingForSeeds,
): Promise<readonly Seed[]> {
  if (seeds === undefined) return [];
  const named = `the seeds of crawler ${name}`;
  const watchdog = openWatchdog(settings, () => [`The seeds of crawler ${name} take too long.`], EXIT_CONFIGURATION);
  await watchdog.start();
  const since = performance.now();
  const reminder = setInterval(() => onWait?.(name, performance.now() - since), REMIND_MS).unref();
  let given: unknown;
  try {
    given = await unlessIdle(seeds({ args }));
  } catch (error: unknown) {
    throw new ConfigurationError([`${placeOf(error)}${named}: ${messageOf(error)}`], { cause: error });
  } finally {
    clearInterval(reminder);
    await watchdog.stop();
  }
  if (!Array.isArray(given))
    throw new ConfigurationError([`expected ${named} to be a list of URLs, got ${kindOf(given)}`]);
  const at = given.findIndex((each) => typeof each !== 'string');
  if (at >= 0)
    throw new ConfigurationError([
      `expected ${named} to be a list of URLs, got ${kindOf(given[at])} at ${at}: only a step can follow a request other than a plain GET`,
    ]);
  try {
    return await readSeeds(given);
  } catch (error: unknown) {
    throw error instanceof UsageError ? new UsageError(`${named}: ${error.message}`) : error;
  }
}

/** Returns the line of the crawler that threw, if it was one. */
function placeOf(error: unknown): string {
  const place = error instanceof Error ? placesIn(String(error.stack)).crawler : undefined;
  return place === undefined ? '' : `${place}: `;
}

/** Rejects when the process has nothing else left to do, so that `waited` can't resolve any more. */
async function unlessIdle<T>(waited: T | Promise<T>): Promise<T> {
  const idle = Promise.withResolvers<never>();
  const onIdle = (): void => idle.reject(new Error('they wait for something that never comes'));
  process.once('beforeExit', onIdle);
  try {
    return await Promise.race([waited, idle.promise]);
  } finally {
    process.off('beforeExit', onIdle);
  }
}

function asPage(seed: Seed, crawler: Crawler): Seed {
  const mayBeRead = seed.kind === 'robots' || seed.kind === 'maybe_sitemap';
  const isPage = seed.kind === 'site' || (mayBeRead && crawler.readsItself(seed.url, namesSitemap));
  return isPage ? { ...seed, kind: 'page' } : seed;
}
