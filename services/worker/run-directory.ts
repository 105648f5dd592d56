import { argsOf } from '../../shared/crawler/args.ts';
import type { Crawler } from '../../shared/crawler/crawler.ts';
import type { LoadedCrawler } from '../../shared/crawler/loading/load.ts';
import type { RunOptions, RunStanding, Runs, Steered } from '../../shared/ports/runs.ts';
import { ConfigurationError } from '../../shared/runtime/errors.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import type { Task } from '../../shared/task/task/task.ts';
import { warnOfChangedJoins } from './joins/changed-joins.ts';

/** A run as a worker needs it: the options fixed when it opened, and its crawler. */
export interface WorkedRun {
  /** Empty for a run that the store doesn't know. */
  readonly incarnation: string;
  readonly options: RunOptions;
  readonly crawler: Crawler;
  /** The crawler's version in this process, which may differ from the one the run began with. */
  readonly version: string;
  /** The run's arguments, as the crawler's schema reads them. */
  readonly args: unknown;
  /** The values of the crawler's secrets, by name. */
  readonly secrets?: Readonly<Record<string, string>>;
}

interface RunDirectoryOptions {
  readonly runs: Runs;
  /** Returns the crawler with this name, or throws a ConfigurationError if there is none. */
  readonly crawlerNamed: (name: string) => Pick<LoadedCrawler, 'crawler' | 'version'>;
  /** Returns the values of a crawler's secrets. Default: it has none. */
  readonly secretsOf?: (crawler: Crawler) => Readonly<Record<string, string>>;
  /** Options for a run that the store doesn't know. */
  readonly defaults: RunOptions;
  readonly log: Pick<Logger, 'warn'>;
}

/** @throws ConfigurationError if the run's crawler has no such step here, or only another version may work on the run */
export function expectStep(
  { crawler, version, options }: WorkedRun,
  { step, join }: Pick<Task, 'step' | 'join'>,
): void {
  if (crawler.isStrict && options.version !== undefined && version !== options.version) {
    const why = `it began with version ${options.version} of crawler "${crawler.name}", which says strictVersion`;
    throw new ConfigurationError([`${why}: there is version ${version} here`]);
  }
  if (join !== undefined) {
    if (crawler.join(step) !== undefined) return;
    throw new ConfigurationError([`crawler "${options.crawler}" has no join "${step}" here`]);
  }
  if (!crawler.hasStep(step)) throw new ConfigurationError([`crawler "${options.crawler}" has no step "${step}" here`]);
}

/** Maximum runs remembered; at this number all are forgotten and looked up again. */
const MOST_RUNS = 1_000;

/**
 * The runs that this process works on, each looked up once, since the options of one incarnation never change. A run that was lost or
 * forgotten can be opened again with other options.
 */
export class RunDirectory {
  readonly #options: RunDirectoryOptions;
  readonly #known = new Map<string, Promise<WorkedRun>>();

  constructor(options: RunDirectoryOptions) {
    this.#options = options;
  }

  /** @throws ConfigurationError if this process doesn't have the run's crawler, or has another version that refuses its arguments */
  async find(run: string): Promise<WorkedRun> {
    let known = this.#known.get(run);
    if (known === undefined) {
      if (this.#known.size >= MOST_RUNS) this.#known.clear();
      known = this.#look(run);
      this.#known.set(run, known);
      // A failed or empty lookup is not remembered.
      known.catch(() => this.#known.delete(run));
    }
    return await known;
  }

  /** Finds a run as {@link find} does, but looks it up again if another incarnation than this one is remembered. */
  async findAs(run: string, incarnation: string): Promise<WorkedRun> {
    const known = await this.find(run);
    if (known.incarnation === incarnation) return known;
    this.#known.delete(run);
    return await this.find(run);
  }

  /** Pauses a run, on all workers; see {@link Runs.pause}. */
  async pause(run: string, reason: string): Promise<Steered | undefined> {
    return await this.#options.runs.pause(run, reason);
  }

  /** See {@link Runs.standing}. */
  async standing(run: string): Promise<RunStanding | undefined> {
    return await this.#options.runs.standing(run);
  }

  async #look(run: string): Promise<WorkedRun> {
    const { runs, crawlerNamed, defaults, secretsOf, log } = this.#options;
    const progress = await runs.progress(run);
    if (progress === undefined) this.#known.delete(run);
    const options = progress?.options ?? defaults;
    const { crawler, version } = crawlerNamed(options.crawler);
    const args = argsOf(crawler, options.args ?? {});
    if (progress !== undefined) warnOfChangedJoins(run, options.joins, crawler.joinPlan, log);
    return {
      incarnation: progress?.incarnation ?? '',
      options,
      crawler,
      version,
      args,
      ...(secretsOf === undefined ? {} : { secrets: secretsOf(crawler) }),
    };
  }
}
