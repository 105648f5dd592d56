import type { Command } from 'commander';
import { connectStores, type Stores } from '../../shared/backends.ts';
import { systemClock } from '../../shared/clock.ts';
import type { LiveWorker } from '../../shared/roster.ts';
import type { HostLine } from '../../shared/runs.ts';
import { needsMs } from './bottleneck.ts';
import { addCommonOptions, type CommandModule, type Context, withContext } from './command.ts';
import { type HostsOfFleet, hostLines, hostsJson, lookAtHosts } from './fleet-hosts.ts';
import { count, duration, perSecond } from './format.ts';
import { incrementalJson, incrementalLine } from './incremental-text.ts';
import { EXIT_INTERRUPTED, Interrupts } from './interrupts.ts';
import { hostText } from './pause-text.ts';
import { readRunId } from './run-id.ts';
import { producersLine, runJson } from './run-troubles.ts';
import { type RunView, RunWatcher } from './run-watcher.ts';
import { elapsedMs, summaryJson, summaryText } from './summary.ts';
import { table } from './table.ts';

interface StatusOptions {
  readonly watch?: boolean;
}

const LOOK_EVERY_MS = 1_000;
const MOST_RUNS = 20;
const SLOWEST_HOSTS = 5;

/** `trawl status [RUN]`: one run, or all. */
export const command: CommandModule = {
  define(command: Command, exit) {
    addCommonOptions(command, ['fleet'])
      .argument('[run]', 'a run id (default: the newest runs)')
      .option('--watch', 'look again every second')
      .action(async (run: string | undefined, options: StatusOptions) => {
        exit(await withContext({ ...options }, { logLevel: 'warn' }, (context) => status(run, options, context)));
      });
  },
};

async function status(run: string | undefined, { watch = false }: StatusOptions, context: Context): Promise<number> {
  if (run !== undefined) readRunId(run);
  const interrupts = new Interrupts();
  const stores = await connectStores({ ...context, name: 'trawl status', signal: interrupts.signal });
  try {
    const look = run === undefined ? new AllRuns(stores) : new OneRun(stores, run);
    for (;;) {
      const found = await look.again();
      if (found === undefined) {
        process.stderr.write(`trawl: no run ${run} is known to this Redis; trawl status lists those that are\n`);
        return 1;
      }
      const text = context.json ? `${JSON.stringify(found.json)}\n` : found.text;
      if (watch && !context.json && process.stdout.isTTY) process.stdout.write('\u001b[H\u001b[2J');
      process.stdout.write(text);
      if (!watch || found.isOver || interrupts.signal.aborted) break;
      await systemClock.sleep(LOOK_EVERY_MS, interrupts.signal);
      if (interrupts.signal.aborted) break;
    }
    return interrupts.by === 'SIGINT' ? EXIT_INTERRUPTED : 0;
  } finally {
    stores.close();
    interrupts.close();
  }
}

interface Found {
  readonly text: string;
  readonly json: object;
  /** Nothing will change any more. */
  readonly isOver: boolean;
}

/** One run, in full. */
class OneRun {
  readonly #stores: Stores;
  readonly #run: string;
  readonly #watcher: RunWatcher;

  constructor(stores: Stores, run: string) {
    this.#stores = stores;
    this.#run = run;
    this.#watcher = new RunWatcher({ run, runs: stores.runs, roster: stores.roster, clock: systemClock });
  }

  async again(): Promise<Found | undefined> {
    const [view, workers, hosts, fleet] = await Promise.all([
      this.#watcher.look(),
      this.#stores.roster.workers(),
      this.#stores.runs.hosts(this.#run, 1_000),
      lookAtHosts(this.#stores),
    ]);
    if (view === undefined) return undefined;
    const { progress, bottleneck } = view;
    const { name, sentence, etaMs } = bottleneck;
    const more = {
      bottleneck: name === 'none' ? null : sentence,
      etaSeconds: etaMs === undefined ? null : Math.round(etaMs / 1_000),
      workers: workers.length,
      ...incrementalJson(progress.options),
      ...runJson(progress),
      ...hostsJson(fleet),
    };
    return {
      text: this.#text(view, workers, hosts, fleet),
      json: { ...summaryJson(progress), ...more },
      isOver: progress.endedAt !== undefined,
    };
  }

  #text(
    { progress, bottleneck }: RunView,
    workers: readonly LiveWorker[],
    hosts: readonly HostLine[],
    fleet: HostsOfFleet,
  ): string {
    const lines = [summaryText(progress, undefined).trimEnd()];
    const incremental = incrementalLine(progress.options);
    if (incremental !== undefined) lines.push(incremental);
    if (progress.endedAt === undefined) {
      if (bottleneck.sentence !== '') lines.push(`Bottleneck: ${bottleneck.sentence}`);
      if (bottleneck.etaMs !== undefined) lines.push(`Left: about ${duration(bottleneck.etaMs)}`);
      if (!progress.sealed) lines.push(producersLine(progress));
      lines.push(...slowestHosts(hosts), ...workerLines(workers), ...hostLines(fleet));
    }
    return `${lines.join('\n')}\n`;
  }
}

/** The newest runs, a line each. */
class AllRuns {
  readonly #stores: Stores;
  readonly #watchers = new Map<string, RunWatcher>();

  constructor(stores: Stores) {
    this.#stores = stores;
  }

  async again(): Promise<Found> {
    const { runs, roster } = this.#stores;
    const [ids, workers, fleet] = await Promise.all([
      runs.list(MOST_RUNS),
      roster.workers(),
      lookAtHosts(this.#stores),
    ]);
    const views = (await Promise.all(ids.map((run) => this.#watcher(run).look()))).filter((view) => view !== undefined);
    const rows = views.map(({ progress, bottleneck }) => {
      const { run, state, discovered, done, skipped, failed, cancelled } = progress;
      const ended = done + skipped + failed + cancelled;
      const rate = done / Math.max(0.001, elapsedMs(progress) / 1_000);
      return [
        run,
        state,
        `${count(ended)}/${count(discovered)}`,
        `${count(failed)} failed`,
        `${perSecond(rate)}/s`,
        bottleneck.sentence,
      ];
    });
    const text = rows.length === 0 ? 'No runs yet. Start one with: trawl produce https://example.com/\n' : table(rows);
    return {
      text: `${text}${[...workerLines(workers), ...hostLines(fleet)].join('\n')}\n`,
      json: {
        runs: views.map(({ progress }) => ({ ...summaryJson(progress), ...runJson(progress) })),
        ...hostsJson(fleet),
        workers,
      },
      isOver: false,
    };
  }

  #watcher(run: string): RunWatcher {
    let watcher = this.#watchers.get(run);
    if (watcher === undefined) {
      const { runs, roster } = this.#stores;
      watcher = new RunWatcher({ run, runs, roster, clock: systemClock });
      this.#watchers.set(run, watcher);
    }
    return watcher;
  }
}

function slowestHosts(hosts: readonly HostLine[]): string[] {
  const slowest = [...hosts].sort((a, b) => needsMs(b) - needsMs(a)).slice(0, SLOWEST_HOSTS);
  if (slowest.length === 0) return [];
  const rows = slowest.map((line) => {
    const { host, waiting, byHand, isUnreachable } = line;
    const eta = needsMs(line) > 0 && !byHand && !isUnreachable ? `about ${duration(needsMs(line))}` : '';
    return [`  ${host}`, `${count(waiting)} wait`, hostText(line), eta];
  });
  return ['Hosts that need longest:', table(rows).trimEnd()];
}

function workerLines(workers: readonly LiveWorker[]): string[] {
  if (workers.length === 0) return ['Workers: none is running (trawl work)'];
  const rows = workers.map(({ id, state, inHand, slots }) => [`  ${id}`, state, `${inHand} of ${slots} in hand`]);
  return [`Workers: ${workers.length}`, table(rows).trimEnd()];
}
