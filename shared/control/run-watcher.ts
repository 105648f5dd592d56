import type { MemoryUse, StoreMemory } from '../ports/frontier/store-memory.ts';
import type { Roster, WorkerBound } from '../ports/roster.ts';
import type { HostLine, RunOverview } from '../ports/run-overview.ts';
import { elapsedMs, type RunProgress, type RunStanding, type Runs } from '../ports/runs.ts';
import type { Clock } from '../runtime/clock.ts';
import { type Bottleneck, bottleneckOf } from './bottleneck.ts';

/** A run at one moment, with its bottleneck. */
export interface RunView {
  readonly progress: RunProgress;
  readonly bottleneck: Bottleneck;
  /** Pages per second, over the last few seconds. */
  readonly rate: number;
  /** Some of the run's hosts, see {@link RunOverview.hosts}. Empty once the run has ended. Read at most {@link HOSTS_KEPT_MS} ago. */
  readonly hosts: readonly HostLine[];
}

interface RunWatcherOptions {
  readonly run: string;
  readonly runs: Runs & RunOverview;
  readonly clock: Clock;
  /** Absent if this process is the only worker. */
  readonly roster?: Pick<Roster, 'workers'>;
  /** Returns the command that resumes a crawl of one process; absent for a fleet's runs. */
  readonly resumeCommand?: ((run: string) => string) | undefined;
  /** Is this the intended run? Default: any run with the id. */
  readonly isOwn?: (standing: Pick<RunStanding, 'incarnation'>) => boolean;
  /** Returns the bound of this process' worker, if it is the only one. */
  readonly ownBound?: () => WorkerBound;
  /** For a fleet: reads how long its longest waiting host has been due. */
  readonly oldestDueMs?: () => Promise<number>;
  /** Memory of the store, if it has a limit. Read only while a producer is open and nothing waits or is in flight. */
  readonly memory?: StoreMemory | undefined;
  /** Maximum number of hosts read to find the slowest. Default: {@link HOSTS_LOOKED_AT}. */
  readonly mostHosts?: number;
}

/** The period over which the rate is measured. */
const RATE_OVER_MS = 5_000;
const HOSTS_LOOKED_AT = 100;
/** Minimum interval between two reads of hosts and workers, however often a progress line is drawn. */
const HOSTS_KEPT_MS = 1_000;

type Surroundings = Pick<Parameters<typeof bottleneckOf>[0], 'hosts' | 'hasMoreHosts' | 'workers' | 'oldestDueMs'>;

/** Reads a run's state repeatedly and measures its recent speed. */
export class RunWatcher {
  readonly #options: RunWatcherOptions;
  #samples: { readonly at: number; readonly ended: number }[] = [];
  #surroundings: { readonly at: number; readonly found: Surroundings } | undefined;

  constructor(options: RunWatcherOptions) {
    this.#options = options;
  }

  /** Reads the run as it is now; undefined if the store doesn't know it. */
  async look(): Promise<RunView | undefined> {
    const { run, runs, resumeCommand, isOwn, ownBound } = this.#options;
    const progress = await runs.progress(run);
    if (progress === undefined || isOwn?.(progress) === false) return undefined;
    const rate = this.#rate(progress);
    const found = progress.endedAt === undefined ? await this.#lookAround() : { hosts: [] };
    const own = ownBound === undefined ? {} : { ownBound: ownBound() };
    const memory = await this.#memoryFor(progress);
    const bottleneck = bottleneckOf({ progress, rate, resumeCommand: resumeCommand?.(run), memory, ...found, ...own });
    return { progress, bottleneck, rate, hosts: found.hosts };
  }

  /** Looks every `everyMs` and shows each view, until the run has ended or is lost, or `signal` is aborted. */
  async follow(everyMs: number, show: (view: RunView) => void, signal: AbortSignal): Promise<void> {
    for (;;) {
      const view = await this.look();
      if (view === undefined) return;
      show(view);
      if (view.progress.endedAt !== undefined || signal.aborted) return;
      await this.#options.clock.sleep(everyMs, signal);
    }
  }

  /** Like `follow`, but shows nothing, and so reads only the run's standing. */
  async untilEnded(everyMs: number, signal: AbortSignal): Promise<void> {
    const { run, runs, clock, isOwn } = this.#options;
    for (;;) {
      const standing = await runs.standing(run);
      if (standing === undefined || isOwn?.(standing) === false) return;
      if (standing.hasEnded || signal.aborted) return;
      await clock.sleep(everyMs, signal);
    }
  }

  async #memoryFor({ waiting, inFlight, producers }: RunProgress): Promise<MemoryUse | undefined> {
    return waiting + inFlight === 0 && producers.open > 0 ? await this.#options.memory?.memory() : undefined;
  }

  async #lookAround(): Promise<Surroundings> {
    const { run, runs, roster, oldestDueMs, clock, mostHosts = HOSTS_LOOKED_AT } = this.#options;
    const at = clock.monotonic();
    if (this.#surroundings === undefined || at - this.#surroundings.at >= HOSTS_KEPT_MS) {
      const reading = [runs.hosts(run, mostHosts), roster?.workers(), oldestDueMs?.()] as const;
      const [hosts, workers, dueMs] = await Promise.all(reading);
      const hasMoreHosts = hosts.length >= mostHosts;
      const found = {
        hosts,
        hasMoreHosts,
        ...(workers && { workers }),
        ...(dueMs !== undefined && { oldestDueMs: dueMs }),
      };
      this.#surroundings = { at, found };
    }
    return this.#surroundings.found;
  }

  #rate(progress: RunProgress): number {
    const ended = progress.done + progress.skipped + progress.failed;
    // The count fell: replayed letters wait again in their local run, so earlier samples don't measure the speed any more.
    if (ended < (this.#samples.at(-1)?.ended ?? 0)) this.#samples = [];
    this.#samples.push({ at: progress.readAt, ended });
    const recent = this.#samples.filter(({ at }) => progress.readAt - at <= RATE_OVER_MS);
    // With rarer looks, the speed is measured since the last one.
    this.#samples = recent.length > 1 ? recent : this.#samples.slice(-2);
    const [first] = this.#samples;
    if (first !== undefined && progress.readAt > first.at)
      return ((ended - first.ended) / (progress.readAt - first.at)) * 1_000;
    const elapsed = elapsedMs(progress);
    return elapsed > 0 ? (ended / elapsed) * 1_000 : 0;
  }
}
