import { access } from 'node:fs/promises';
import { resolve } from 'node:path';
import { openLocalRuns } from '../../../shared/backends/embedded.ts';
import { sinkPlaceOf } from '../../../shared/backends/sinks.ts';
import { newRunId, readRunId } from '../../../shared/control/run-id.ts';
import { readLimit } from '../../../shared/control/run-limit.ts';
import { differingOptions, RUN_OPTION_OF } from '../../../shared/control/run-options.ts';
import { findCrawler } from '../../../shared/crawler/loading/catalogue.ts';
import { isPath } from '../../../shared/crawler/loading/crawler-files.ts';
import type { LocalRuns, LocalRunView } from '../../../shared/ports/local-runs.ts';
import type { RunOptions, RunProgress } from '../../../shared/ports/runs.ts';
import { systemClock } from '../../../shared/runtime/clock.ts';
import { messageOf, StorageError, UsageError } from '../../../shared/runtime/errors.ts';
import { TRAWL } from '../../../shared/runtime/started-as.ts';
import { readSettings } from '../../../shared/settings/settings.ts';
import { SETTINGS, type Settings } from '../../../shared/settings/table.ts';
import { timeOf } from '../../../shared/task/sitemap/lastmod.ts';
import { readCrawlerInput, runOptionsFor } from '../../process/crawler-input.ts';
import type { RunPlan } from '../../process/run-plan.ts';
import { isInput, otherPlaceOf, planOfStopped } from '../../process/stopped-plan.ts';
import type { Context } from '../command.ts';
import { sayWaiting } from './awaited-seeds.ts';
import { warnOfIdleFlags } from './idle-flags.ts';
import { resumeRunCommand } from './place-flags.ts';

export interface CrawlOptions {
  readonly run?: string;
  readonly urlsFile?: string[];
  /** Arguments for the crawler, each `name=value`. */
  readonly arg?: string[];
  readonly strict?: boolean;
  /** The dedup scope: `ever` or `run`. */
  readonly dedup?: string;
  /** Maximum number of URLs that the run takes. */
  readonly limit?: string;
  /** A run id, or `true` for the unfinished run that was last active. */
  readonly resume?: string | true;
  /** `false` for a run that is kept in memory only, and so can't be resumed. */
  readonly isKept?: boolean;
}

/** Plans a run that doesn't exist yet. */
export async function planNew(texts: readonly string[], options: CrawlOptions, context: Context): Promise<RunPlan> {
  const { settings, flags } = context;
  const loaded = await findCrawler(settings.crawler, settings.crawlersDir);
  const { seeds, args } = await readCrawlerInput(loaded.crawler, texts, options, { settings, onWait: sayWaiting });
  warnOfIdleFlags(loaded.crawler, seeds, context);
  if (seeds.length === 0)
    throw new UsageError(
      "nothing to crawl: name a site, a sitemap, a page or a file of URLs, or a crawler that has 'seeds' (--crawler)",
    );
  const run = options.run === undefined ? newRunId() : readRunId(options.run);
  const runOptions = {
    ...runOptionsFor(loaded, settings, readDedup(options.dedup) ?? 'run'),
    ...readLimit(options.limit),
    ...args,
  };
  const kept = seeds.map((seed) => ('path' in seed ? { ...seed, path: resolve(seed.path) } : seed));
  // The run options hold only the crawler's name, which doesn't tell where its file is.
  const lasting = { ...lastingFlags(flags, settings), [SETTINGS.crawler.name]: settings.crawler };
  const crawler = isPath(settings.crawler) ? resolve(settings.crawler) : settings.crawler;
  const begin = { run, options: runOptions, crawler, seeds: kept, flags: lasting, sink: sinkPlaceOf(settings) };
  const plan = { run, settings, runOptions, loaded, seeds, hasInput: seeds.some(isInput) };
  return options.isKept === false ? plan : { ...plan, kept: { begin } };
}

/** Plans the resumption of a run. If the run has ended, returns its progress and its crawler instead. */
export async function planResumed(
  texts: readonly string[],
  options: CrawlOptions,
  { settings, flags }: Context,
): Promise<RunPlan | { readonly ended: RunProgress; readonly crawler: string }> {
  const { resume = true, run: named, urlsFile } = options;
  if (named !== undefined) throw new UsageError('expected the run after --resume, not after --run');
  const rest = resume === '-' ? ['-', ...texts] : texts;
  if (rest.length > 1 || (rest.length === 1 && rest[0] !== '-') || urlsFile !== undefined)
    throw new UsageError('a resumed run takes no new seeds: it continues with its own');
  const view = await findRun(resume === '-' ? true : resume, settings);
  if (view.ended !== undefined) return { ended: view.ended, crawler: view.beginning.crawler };
  const { run, options: runOptions, flags: begunWith } = view.beginning;
  const together = readSettings({ ...begunWith, ...flags });
  refuseOtherSink(view, together, flags);
  const plan = await planOfStopped(view, together);
  refuseOtherOptions(view, options, flags, runOptionsFor(plan.loaded, together, runOptions.dedup));
  const hasInput = rest.length === 1;
  if (hasInput && !plan.seeds.some(isInput))
    throw new UsageError(`run ${run} was not begun with a list (-), so it takes none now`);
  return { ...plan, hasInput };
}

/**
 * Checks that the seeds of a plan can be read, for the first time or again from the beginning.
 *
 * @throws UsageError if one is a list on standard input and no list was given; StorageError if one is a file that is gone
 */
export async function expectSeeds({ run, seeds, hasInput }: RunPlan): Promise<void> {
  if (!hasInput && seeds.some(isInput))
    throw new UsageError(
      `run ${run} had not read its list to the end. Give the list again: ${TRAWL} crawl --resume ${run} - < LIST (or < /dev/null to leave out the rest)`,
    );
  for (const seed of seeds) {
    if (!('path' in seed)) continue;
    await access(seed.path).catch((error: unknown) => {
      throw new StorageError(
        `run ${run} had not read ${seed.path} to the end, and it can't be read again: ${messageOf(error)}`,
      );
    });
  }
}

/** The command that resumes a run. */
export function resumeCommand({ run, seeds }: RunPlan, context: Context, isAllRead: boolean): string {
  return resumeRunCommand(run, context) + (isAllRead || !seeds.some(isInput) ? '' : ' - < LIST');
}

async function findRun(resume: string | true, settings: Settings): Promise<LocalRunView> {
  const runs = await openLocalRuns(settings);
  try {
    return await findIn(runs, resume, settings);
  } finally {
    runs.close();
  }
}

async function findIn(runs: LocalRuns, resume: string | true, settings: Settings): Promise<LocalRunView> {
  const run = resume === true ? undefined : readRunId(resume);
  const view = run === undefined ? (await runs.unfinished())[0] : await runs.view(run);
  if (view !== undefined) return view;
  const others = run === undefined ? [] : (await runs.unfinished()).map(({ beginning }) => beginning.run);
  const there = others.length === 0 ? 'no run there can be resumed' : `it has ${others.slice(0, 10).join(', ')}`;
  const what = run === undefined ? 'nothing to resume' : `run ${run} is not known`;
  throw new StorageError(`${what} in ${settings.outputDir}: ${there} (OUTPUT_DIR)`);
}

/** Rejects flags that differ from the run's options, which are fixed when it begins. The environment is ignored. */
function refuseOtherOptions(
  { beginning: { run, options: own } }: LocalRunView,
  given: CrawlOptions,
  flags: Readonly<Record<string, string>>,
  asked: RunOptions,
): void {
  const differing = differingOptions(asked, own);
  const settings = Object.entries(RUN_OPTION_OF)
    .map(([key, option]) => ({ ...SETTINGS[key as keyof typeof RUN_OPTION_OF], option }))
    .filter(({ name, option }) => flags[name] !== undefined && differing.includes(option));
  const { limit = own.limit } = readLimit(given.limit);
  const others = [
    ...((readDedup(given.dedup) ?? own.dedup) === own.dedup ? [] : ['--dedup']),
    ...(given.arg === undefined ? [] : ['--arg']),
    ...(limit === own.limit ? [] : ['--limit']),
    ...settings.map(({ flag }) => `--${flag}`),
  ];
  if (others.length > 0)
    throw new UsageError(`run ${run} keeps the options it was begun with: leave out ${others.join(', ')}`);
}

/** Rejects another sink named by the environment: the run's records would be complete in neither place. A flag is taken as intended. */
function refuseOtherSink(view: LocalRunView, settings: Settings, flags: Readonly<Record<string, string>>): void {
  const before = otherPlaceOf(view, settings);
  if (before === undefined || flags[SETTINGS.sink.name] !== undefined) return;
  throw new UsageError(
    `run ${view.beginning.run} has its records in ${before}, but SINK names ${sinkPlaceOf(settings)}: set SINK back, or give --sink to store the remaining records there`,
  );
}

/** The flags a resumed run keeps: all except the output folder, in which it is found, and those of the log. */
function lastingFlags(flags: Readonly<Record<string, string>>, { lastmodSince }: Settings): Record<string, string> {
  const passing = Object.values(SETTINGS).filter(({ group }) => group === 'log');
  const names = new Set<string>([SETTINGS.outputDir.name, ...passing.map(({ name }) => name)]);
  const lasting = Object.fromEntries(Object.entries(flags).filter(([name]) => !names.has(name)));
  const { name } = SETTINGS.lastmodSince;
  // `7d` means seven days before the run began, even when it is resumed later.
  if (lasting[name] !== undefined && lastmodSince !== undefined)
    lasting[name] = new Date(timeOf(lastmodSince, systemClock.now())).toISOString();
  return lasting;
}

/** @throws UsageError if the value is neither `ever` nor `run` */
function readDedup(dedup: string | undefined): RunOptions['dedup'] | undefined {
  if (dedup === undefined || dedup === 'ever' || dedup === 'run') return dedup;
  throw new UsageError(`expected --dedup to be ever or run, got "${dedup}"`);
}
