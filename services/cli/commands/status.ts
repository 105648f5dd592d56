import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import type { Stores } from '../../../shared/backends/backends.ts';
import { type Bottleneck, needsMs } from '../../../shared/control/bottleneck.ts';
import { count, duration, perSecond, shownState } from '../../../shared/control/format.ts';
import { type HostsOfFleet, lookAtHosts } from '../../../shared/control/hosts/fleet-hosts.ts';
import { hostText, troubleText } from '../../../shared/control/hosts/pause-text.ts';
import { incrementalLine } from '../../../shared/control/incremental.ts';
import { readRunId } from '../../../shared/control/run-id.ts';
import { RunLister } from '../../../shared/control/run-list.ts';
import { producersLines } from '../../../shared/control/run-troubles.ts';
import { type RunView, RunWatcher } from '../../../shared/control/run-watcher.ts';
import { fleetStatusJson, runStatusJson } from '../../../shared/control/status-json.ts';
import type { LiveWorker } from '../../../shared/ports/roster.ts';
import type { HostLine } from '../../../shared/ports/run-overview.ts';
import { elapsedMs } from '../../../shared/ports/runs.ts';
import { systemClock } from '../../../shared/runtime/clock.ts';
import { TRAWL } from '../../../shared/runtime/started-as.ts';
import { addCommonOptions, type CommandModule, type Context, withContext } from '../command.ts';
import { recordsFlags, resumeRunCommand } from '../process/place-flags.ts';
import { type AnyStores, addLocalOption, isLocalOf, sayUnknownRun, tell, withStores } from '../process/with-stores.ts';
import { hostLines } from '../text/fleet-hosts.ts';
import { otherRunsLines } from '../text/other-runs.ts';
import { clearScreen, isOutputOver, type Line, sayFailure } from '../text/output.ts';
import { missingCrawlerLines } from '../text/step-lines.ts';
import { summaryLines } from '../text/summary.ts';
import { table } from '../text/table.ts';
import { workerLines } from '../text/worker-lines.ts';

interface StatusOptions {
  readonly watch?: boolean;
  readonly local?: boolean;
}

const LOOK_EVERY_MS = 1_000;
/** Maximum number of a run's hosts read to find the slowest. */
const MOST_HOSTS = 1_000;
const SLOWEST_HOSTS = 5;

/** `trawl status [RUN]`: shows one run, or all of them. */
export const command: CommandModule = {
  define(command: Command, exit) {
    addLocalOption(addCommonOptions(command, ['fleet', 'output']))
      .argument('[run]', 'a run id (default: the open runs and the newest)')
      .option('--watch', 'refresh every second')
      .action(async (run: string | undefined, options: StatusOptions) => {
        exit(await withContext(options, { logLevel: 'warn' }, (context) => status(run, options, context)));
      });
  },
};

async function status(
  run: string | undefined,
  { watch = false, local }: StatusOptions,
  context: Context,
): Promise<number> {
  if (run !== undefined) readRunId(run);
  return await withStores(context, 'trawl status', { local, run }, async (stores) => {
    const look = run === undefined ? new AllRuns(stores, context) : new OneRun(stores, run, context);
    for (;;) {
      const found = await look.again();
      if (found === undefined) {
        return sayNotKnown(run ?? '', context, local);
      }
      if (watch && !context.json) clearScreen();
      tell(context, found.json, found.lines);
      if (!watch || found.isOver || isOutputOver()) return 0;
      await systemClock.sleep(LOOK_EVERY_MS, context.signal);
      context.signal?.throwIfAborted();
    }
  });
}

/** Reports a run that the store doesn't know. If there are records of it, it once existed, and Redis may have lost its data. */
function sayNotKnown(run: string, { settings }: Context, local?: boolean): number {
  const folder = join(settings.outputDir, run);
  if (local === true || settings.sink !== undefined || !existsSync(folder)) return sayUnknownRun(run, local);
  sayFailure(
    `run ${run} is no longer known to this Redis; its records are still in ${folder}. If Redis has lost its data, offer the seeds again: ${TRAWL} produce --run ${run} …`,
  );
  return 1;
}

interface StatusView {
  readonly lines: readonly Line[];
  readonly json: object;
  /** The run has ended and won't change any more. */
  readonly isOver: boolean;
}

/** One run, in full. */
class OneRun {
  readonly #stores: Stores;
  readonly #watcher: RunWatcher;
  readonly #isLocal: boolean;
  readonly #recordsFlag: string;

  constructor(stores: AnyStores, run: string, context: Context) {
    this.#stores = stores;
    this.#isLocal = isLocalOf(stores);
    this.#recordsFlag = recordsFlags(context);
    const { runs, roster, hosts, memory } = stores;
    this.#watcher = new RunWatcher({
      run,
      runs,
      roster,
      memory,
      oldestDueMs: () => hosts.oldestDueMs(),
      clock: systemClock,
      resumeCommand: resumeCommandOf(stores, context),
      mostHosts: MOST_HOSTS,
    });
  }

  async again(): Promise<StatusView | undefined> {
    const [view, workers, fleet] = await Promise.all([
      this.#watcher.look(),
      this.#stores.roster.workers(),
      lookAtHosts(this.#stores),
    ]);
    if (view === undefined) return undefined;
    return {
      lines: this.#lines(view, workers, fleet),
      json: runStatusJson(view, workers, fleet),
      isOver: view.progress.endedAt !== undefined,
    };
  }

  #lines({ progress, bottleneck, hosts }: RunView, workers: readonly LiveWorker[], fleet: HostsOfFleet): Line[] {
    const lines = summaryLines(progress, { isLocal: this.#isLocal, recordsFlag: this.#recordsFlag });
    const incremental = incrementalLine(progress.options);
    if (incremental !== undefined) lines.push(incremental);
    if (progress.endedAt === undefined) {
      if (bottleneck.sentence !== '') lines.push(`Bottleneck: ${bottleneck.sentence}`);
      if (bottleneck.etaMs !== undefined)
        lines.push(
          `Left: about ${duration(bottleneck.etaMs)}${progress.producers.open > 0 ? ', for the pages known so far' : ''}`,
        );
      if (!progress.sealed) lines.push(...(this.#isLocal ? [seedsLine(bottleneck)] : producersLines(progress)));
      if (!this.#isLocal) lines.push(...missingCrawlerLines(progress, workers));
      lines.push(
        ...slowestHosts(hosts, progress.readAt),
        ...workerLines(workers, { isLocal: this.#isLocal, isShort: true }),
        ...hostLines(fleet, this.#isLocal),
      );
    }
    return lines;
  }
}

/** The line about the seeds of a crawl in one process, which reads them itself. */
function seedsLine({ name }: Bottleneck): string {
  return name === 'no workers' ? 'Seeds: not all read' : 'Seeds: being read';
}

/** The open and the newest runs, one line each. */
class AllRuns {
  readonly #stores: Stores;
  readonly #lister: RunLister;
  readonly #isLocal: boolean;

  constructor(stores: AnyStores, context: Context) {
    this.#stores = stores;
    this.#isLocal = isLocalOf(stores);
    const resumeCommand = resumeCommandOf(stores, context);
    this.#lister = new RunLister({ ...stores, clock: systemClock, resumeCommand });
  }

  async again(): Promise<StatusView> {
    const [list, fleet] = await Promise.all([this.#lister.look(), lookAtHosts(this.#stores)]);
    const { views, workers, damaged } = list;
    for (const said of damaged) sayFailure(said);
    const rows = views.map(({ progress, bottleneck }) => {
      const { run, discovered, done, skipped, failed, cancelled } = progress;
      const ended = done + skipped + failed + cancelled;
      const rate = done / Math.max(0.001, elapsedMs(progress) / 1_000);
      return [
        run,
        shownState(progress),
        `${count(ended)}/${count(discovered)}`,
        `${count(failed)} failed`,
        `${perSecond(rate)}/s`,
        bottleneck.sentence,
      ];
    });
    const lost = views.flatMap(({ progress }) => missingCrawlerLines(progress, workers));
    const none = this.#isLocal
      ? `No runs yet. Start one with: ${TRAWL} crawl https://example.com/`
      : `No runs yet. Start one with: ${TRAWL} produce https://example.com/ (crawls on this machine: ${TRAWL} status --local)`;
    const more = otherRunsLines(list);
    return {
      lines: [
        ...(rows.length === 0 ? [none] : table(rows)),
        ...more,
        ...lost,
        ...workerLines(workers, { isLocal: this.#isLocal, isShort: true }),
        ...hostLines(fleet, this.#isLocal),
      ],
      json: fleetStatusJson(list, fleet),
      isOver: false,
    };
  }
}

function slowestHosts(hosts: readonly HostLine[], now: number): string[] {
  const slowest = [...hosts].sort((a, b) => needsMs(b, now) - needsMs(a, now)).slice(0, SLOWEST_HOSTS);
  if (slowest.length === 0) return [];
  const rows = slowest.map((line) => {
    const { host, waiting, byHand, isUnreachable } = line;
    const isKnown = !byHand && !isUnreachable && troubleText(line, now) === undefined;
    const eta = needsMs(line, now) > 0 && isKnown ? `about ${duration(needsMs(line, now))}` : '';
    return [`  ${host}`, `${count(waiting)} wait`, troubleText(line, now) ?? hostText(line), eta];
  });
  return ['Slowest hosts:', ...table(rows)];
}

function resumeCommandOf(stores: AnyStores, context: Context): ((run: string) => string) | undefined {
  return isLocalOf(stores) ? (run) => resumeRunCommand(run, context) : undefined;
}
