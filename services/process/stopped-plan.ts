import { sinkPlaceOf } from '../../shared/backends/sinks.ts';
import { findCrawler } from '../../shared/crawler/loading/catalogue.ts';
import type { LoadedCrawler } from '../../shared/crawler/loading/load.ts';
import type { LocalRunView } from '../../shared/ports/local-runs.ts';
import { ConfigurationError } from '../../shared/runtime/errors.ts';
import type { Settings } from '../../shared/settings/table.ts';
import { type Seed, seedsSchema } from '../producer/seeds.ts';
import type { RunPlan } from './run-plan.ts';

/**
 * Plans to crawl a run on, with its own options and crawler.
 *
 * @param settings those that it was begun with, and this process' own
 * @throws ConfigurationError if its crawler is another one by now, or lacks what is left to do; UnknownCrawlerError if it is gone
 */
export async function planOfStopped(
  view: LocalRunView,
  settings: Settings,
): Promise<RunPlan & { readonly kept: { readonly resume: string } }> {
  const { run, options: runOptions } = view.beginning;
  const loaded = await findCrawler(settings.crawler, settings.crawlersDir);
  refuseOtherCrawler(view, loaded);
  const seeds = seedsSchema.parse(view.beginning.seeds);
  return { run, settings, runOptions, loaded, seeds, hasInput: false, kept: { resume: run } };
}

/** Returns where a run has stored its records so far, if `settings` would store the remaining ones elsewhere. */
export function otherPlaceOf({ beginning: { sink } }: LocalRunView, settings: Settings): string | undefined {
  return sink === sinkPlaceOf(settings) ? undefined : sink;
}

/** Whether a seed is a list on standard input. */
export function isInput({ kind }: Seed): boolean {
  return kind === 'input';
}

/**
 * Rejects a crawler other than the run's: by its name, by its version if it is strict, or by missing steps and joins. There are no other
 * workers that might have those.
 */
function refuseOtherCrawler({ beginning, left }: LocalRunView, { crawler, version, file }: LoadedCrawler): void {
  const { run, options: own } = beginning;
  if (crawler.name !== own.crawler)
    throw new ConfigurationError([`run ${run} was begun with crawler ${own.crawler}, but ${file} is ${crawler.name}`]);
  if (crawler.isStrict && own.version !== undefined && own.version !== version)
    throw new ConfigurationError([
      `run ${run} was begun with version ${own.version} of crawler ${crawler.name}, which has strictVersion: ${file} is now ${version}`,
    ]);
  const needed = new Set([...left, ...Object.keys(own.joins?.joins ?? {})]);
  const missing = [...needed].filter((name) => !crawler.hasStep(name) && crawler.join(name) === undefined);
  if (missing.length > 0)
    throw new ConfigurationError([
      `run ${run} needs ${missing.join(', ')}, which ${file} no longer has: put it back, or begin another run`,
    ]);
}
