import type { MemoryUse, StoreMemory } from '../ports/frontier/store-memory.ts';
import type { Roster, WorkerBound } from '../ports/roster.ts';
import type { HostLine, RunOverview } from '../ports/run-overview.ts';
import { elapsedMs, type RunProgress, type RunStanding, type Runs } from '../ports/runs.ts';
import type { Clock } from '../runtime/clock.ts';
import { type Bottleneck, bottleneckOf } from './bottleneck.ts';

/** A run at one moment, and what it is waiting for. */
export interface RunView {
  readonly progress: RunProgress;
  readonly bottleneck: Bottleneck;
  /** Pages a second, over the last seconds. */
  readonly rate: number;
  /** Some of its hosts, see {@link RunOverview.hosts}; none once it has ended. At most {@link HOSTS_KEPT_MS} old. */
  readonly hosts: readonly HostLine[];
}

interface RunWatcherOptions {
  readonly run: string;
  readonly runs: Runs & RunOverview;
  readonly clock: Clock;
  /** Left out if this process is the only worker. */
  readonly roster?: Pick<Roster, 'workers'>;
  /** What resumes a crawl of one process; left out for a fleet's runs. */
  readonly resumeCommand?: ((run: string) => string) | undefined;
  /** Is this the run that is meant? Default: any run with the id. */
  readonly isOwn?: (standing: Pick<RunStanding, 'incarnation'>) => boolean;
  /** What bounds the worker in this process, if that is the only one. */
  readonly ownBound?: () => WorkerBound;
  /** Of a fleet: how long its longest waiting host could have been asked. */
  readonly oldestDueMs?: () => Promise<number>;
  /** Of a store that has a bound: asked if a producer has offered nothing that waits. */
  readonly memory?: StoreMemory | undefined;
  /** Hosts read to find the slowest. Default: {@link HOSTS_LOOKED_AT}. */
  readonly mostHosts?: number;
}

/** The period over which the rate is measured. */
const RATE_OVER_MS = 5_000;
const HOSTS_LOOKED_AT = 100;
/** Hosts and workers are read once in this time at most, however often a progress line is drawn. */
const HOSTS_KEPT_MS = 1_000;

type Surroundings = Pick<Parameters<typeof bottleneckOf>[0], 'hosts' | 'workers' | 'oldestDueMs'>;

/** Reads a run's state repeatedly and measures its recent speed. */
export class RunWatcher {
  readonly #options: RunWatcherOptions;
  #samples: { readonly at: number; readonly ended: number }[] = [];
  #surroundings: { readonly at: number; readonly found: Surroundings } | undefined;

  constructor(options: RunWatcherOptions) {
    this.#options = options;
  }

  /** The run as it is now; nothing if the store doesn't know it. */
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

  /** As `follow`, but shows nothing, so it reads only the run's standing. */
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
      const found = { hosts, ...(workers && { workers }), ...(dueMs !== undefined && { oldestDueMs: dueMs }) };
      this.#surroundings = { at, found };
    }
    return this.#surroundings.found;
  }

  #rate(progress: RunProgress): number {
    const ended = progress.done + progress.skipped + progress.failed;
    // Replayed letters wait again in their local run: what had ended before says nothing of the speed.
    if (ended < (this.#samples.at(-1)?.ended ?? 0)) this.#samples = [];
    this.#samples.push({ at: progress.readAt, ended });
    const recent = this.#samples.filter(({ at }) => progress.readAt - at <= RATE_OVER_MS);
    // Who looks less often than that has the speed since the last look.
    this.#samples = recent.length > 1 ? recent : this.#samples.slice(-2);
    const [first] = this.#samples;
    if (first !== undefined && progress.readAt > first.at)
      return ((ended - first.ended) / (progress.readAt - first.at)) * 1_000;
    const elapsed = elapsedMs(progress);
    return elapsed > 0 ? (ended / elapsed) * 1_000 : 0;
  }
}
