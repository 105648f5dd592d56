import type { Roster } from '../ports/roster.ts';
import { elapsedMs, type RunProgress, type Runs } from '../ports/runs.ts';
import type { Clock } from '../runtime/clock.ts';
import { type Bottleneck, bottleneckOf } from './bottleneck.ts';

/** A run at one moment, with what it waits for. */
export interface RunView {
  readonly progress: RunProgress;
  readonly bottleneck: Bottleneck;
  /** Pages a second, over the last seconds. */
  readonly rate: number;
}

interface RunWatcherOptions {
  readonly run: string;
  readonly runs: Runs;
  readonly clock: Clock;
  /** Left out where the one process is the worker. */
  readonly roster?: Roster;
  /** Is it the run that is meant? Left out, any of its id. */
  readonly isOwn?: (progress: RunProgress) => boolean;
}

/** The rate is taken over this long. */
const RATE_OVER_MS = 5_000;
/** Hosts that are looked at to find the slowest. */
const HOSTS_LOOKED_AT = 100;

/** Looks at a run now and again, and knows how fast it has been lately. */
export class RunWatcher {
  readonly #options: RunWatcherOptions;
  #samples: { readonly at: number; readonly ended: number }[] = [];

  constructor(options: RunWatcherOptions) {
    this.#options = options;
  }

  /** The run as it is now; nothing if the store doesn't know it. */
  async look(): Promise<RunView | undefined> {
    const { run, runs, roster, isOwn } = this.#options;
    const [progress, hosts, workers] = await Promise.all([
      runs.progress(run),
      runs.hosts(run, HOSTS_LOOKED_AT),
      roster?.workers(),
    ]);
    if (progress === undefined || isOwn?.(progress) === false) return undefined;
    const rate = this.#rate(progress);
    const bottleneck = bottleneckOf({ progress, hosts, rate, ...(workers === undefined ? {} : { workers }) });
    return { progress, bottleneck, rate };
  }

  /** Looks every so often until the run has ended or `signal` is aborted, and shows each view. */
  async follow(everyMs: number, show: (view: RunView) => void, signal: AbortSignal): Promise<RunProgress | undefined> {
    for (;;) {
      const view = await this.look();
      if (view === undefined) return undefined;
      show(view);
      if (view.progress.endedAt !== undefined || signal.aborted) return view.progress;
      await this.#options.clock.sleep(everyMs, signal);
    }
  }

  #rate(progress: RunProgress): number {
    const ended = progress.done + progress.skipped + progress.failed;
    this.#samples.push({ at: progress.readAt, ended });
    this.#samples = this.#samples.filter(({ at }) => progress.readAt - at <= RATE_OVER_MS);
    const [first] = this.#samples;
    if (first !== undefined && progress.readAt > first.at)
      return ((ended - first.ended) / (progress.readAt - first.at)) * 1_000;
    const elapsed = elapsedMs(progress);
    return elapsed > 0 ? (ended / elapsed) * 1_000 : 0;
  }
}
