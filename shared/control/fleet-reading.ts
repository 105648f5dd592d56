import { readDeadLetter } from '../ports/dead-letter.ts';
import type { MemoryUse, StoreMemory } from '../ports/frontier/store-memory.ts';
import type { HostOverview } from '../ports/host-overview.ts';
import type { LiveWorker, Roster } from '../ports/roster.ts';
import type { HostLine, RunOverview } from '../ports/run-overview.ts';
import type { RunProgress, RunState, Runs } from '../ports/runs.ts';
import type { DeadLetters, QueueDepths } from '../ports/transport.ts';
import type { Clock } from '../runtime/clock.ts';
import { DamagedRunError } from '../runtime/errors.ts';
import { MINUTE_MS, SECOND_MS } from '../task/durations.ts';
import { partsOf } from '../task/parts.ts';
import { hostsOfRuns } from './hosts/hosts-of-runs.ts';
import { RecentRead } from './recent-read.ts';
import { isStuck } from './workers/stuck-workers.ts';
import { type UnreadHosts, workersWanted } from './workers/workers-wanted.ts';

/** The parts of a store that are read. */
export interface ReadStores {
  readonly runs: Runs & RunOverview;
  readonly roster: Pick<Roster, 'workers'>;
  readonly hosts: HostOverview;
  readonly memory?: StoreMemory;
}

/** Access to a fleet or a local store. A call rejects while a service it needs is unreachable. */
export interface ReadLink {
  withStores<T>(action: (stores: ReadStores) => Promise<T>): Promise<T>;
  withLetters<T>(action: (letters: Pick<DeadLetters, 'browse'>) => Promise<T>): Promise<T>;
  /** Undefined if there is no broker. */
  depths(): Promise<QueueDepths | undefined>;
}

/** Sources from which a fleet or a local store is read. */
export interface FleetSources {
  readonly link: ReadLink;
  /** Free bytes on the disk for records; absent if no records are stored on this machine. */
  readonly freeBytes?: () => Promise<number>;
  /** See {@link workersWanted}. */
  readonly hostConcurrency: number;
  readonly clock: Clock;
}

/** The fleet at roughly one moment. Parts that could not be read are absent. */
export interface FleetReading {
  readonly runs?: RunsReading;
  readonly hosts?: HostsReading;
  readonly workers?: WorkersReading;
  readonly workersWanted?: number;
  readonly queues?: QueueDepths;
  /** Age of the oldest dead letter; 0 if there is none. */
  readonly oldestLetterMs?: number;
  readonly memory?: MemoryUse;
  readonly freeBytes?: number;
}

export interface RunsReading {
  readonly byState: Readonly<Record<RunState, number>>;
  /** Tasks of the open runs, by state. */
  readonly tasks: Readonly<Record<TaskCounter, number>>;
  readonly producers: { readonly open: number; readonly lost: number };
  /** Difference between `discovered` and the sum of the six counters, over the open runs. Not 0 means tasks were lost or counted twice. */
  readonly identityGap: number;
  /** At most {@link MOST_HOSTS} hosts with waiting tasks, of all running runs: those whose next check is furthest away. A host that several runs have comes several times. */
  readonly waitingHosts: readonly HostLine[];
  /** The hosts beyond those {@link MOST_HOSTS}. */
  readonly unreadHosts: readonly UnreadHosts[];
}

export const TASK_COUNTERS = ['waiting', 'inFlight', 'done', 'skipped', 'failed', 'cancelled'] as const;
type TaskCounter = (typeof TASK_COUNTERS)[number];

export interface HostsReading {
  readonly due: number;
  readonly oldestDueMs: number;
  /** Hosts paused for any reason other than the two below, and those beyond the first {@link MOST_HOSTS}, whatever the reason. */
  readonly paused: number;
  readonly byHand: number;
  readonly unreachable: number;
}

export interface WorkersReading {
  readonly live: readonly LiveWorker[];
  readonly stuck: number;
  /**
   * Epoch ms of the last settle reported by any worker, or until then the start of this reader: a new process doesn't know of earlier
   * settles, and must not take that for a standstill.
   */
  readonly lastSettleAt: number;
}

/** How long cheap readings stay fresh. */
const FRESH_MS = 5 * SECOND_MS;
/** How long the reading of runs and their hosts stays fresh. It takes some thousand scripts in a busy fleet. */
const RUNS_FRESH_MS = 15 * SECOND_MS;
/** How long the reading of letters stays fresh. To be read, they are taken out of their queue and put back. */
const LETTERS_FRESH_MS = MINUTE_MS;
const LETTERS_READ = 20;
/** Maximum number of open runs read, however old: one may have a lost producer. Takes about a tenth of a second of the store's time. */
const MOST_OPEN = 2_000;
/** Number of newest runs read, open or not. */
const NEWEST = 500;
/** Maximum number of hosts read, and of paused hosts. Each takes about a tenth of a second of the store's time. */
const MOST_HOSTS = 20_000;
const RUNS_AT_ONCE = 10;

/** Reads all that a fleet's metrics and its autoscaler need, for any number of callers. */
export class FleetReader {
  readonly #sources: FleetSources;
  readonly #runs: RecentRead<RunsReading>;
  readonly #hosts: RecentRead<HostsReading>;
  readonly #workers: RecentRead<WorkersReading>;
  readonly #queues: RecentRead<QueueDepths | undefined>;
  readonly #letters: RecentRead<number>;
  readonly #memory: RecentRead<MemoryUse | undefined>;
  readonly #freeBytes: RecentRead<number | undefined>;
  readonly #begunAt: number;
  #lastSettleAt: number | undefined;

  constructor(sources: FleetSources) {
    this.#sources = sources;
    const { link, freeBytes, clock } = sources;
    this.#begunAt = clock.now();
    const often = { clock, forMs: FRESH_MS };
    this.#runs = new RecentRead(() => link.withStores(readRuns), { clock, forMs: RUNS_FRESH_MS });
    this.#hosts = new RecentRead(() => link.withStores(readHosts), often);
    this.#workers = new RecentRead(() => link.withStores((stores) => this.#readWorkers(stores)), often);
    this.#queues = new RecentRead(() => link.depths(), often);
    this.#letters = new RecentRead(() => link.withLetters((letters) => oldestLetterMs(letters, clock.now())), {
      clock,
      forMs: LETTERS_FRESH_MS,
    });
    this.#memory = new RecentRead(() => link.withStores(async ({ memory }) => memory?.memory()), often);
    this.#freeBytes = new RecentRead(async () => freeBytes?.(), often);
  }

  /** Never rejects. Resolves within seconds, even if a store hangs. */
  async read(): Promise<FleetReading> {
    const [runs, hosts, workers, queues, oldestLetterMs, memory, freeBytes] = await Promise.all([
      this.#runs.get(),
      this.#hosts.get(),
      this.#workers.get(),
      this.#queues.get(),
      this.#letters.get(),
      this.#memory.get(),
      this.#freeBytes.get(),
    ]);
    return known({
      ...{ runs, hosts, workers, queues, oldestLetterMs, memory, freeBytes },
      workersWanted: this.#wanted(runs, workers),
    });
  }

  /** Undefined if the store could not be read. */
  async workersWanted(): Promise<number | undefined> {
    const [runs, workers] = await Promise.all([this.#runs.get(), this.#workers.get()]);
    return this.#wanted(runs, workers);
  }

  #wanted(runs: RunsReading | undefined, workers: WorkersReading | undefined): number | undefined {
    if (runs === undefined || workers === undefined) return undefined;
    const { hostConcurrency } = this.#sources;
    const { waitingHosts: hosts, unreadHosts: unread } = runs;
    return workersWanted({ hosts, unread, workers: workers.live, hostConcurrency });
  }

  async #readWorkers({ roster }: ReadStores): Promise<WorkersReading> {
    const live = await roster.workers();
    const now = this.#sources.clock.now();
    for (const { progress, silentMs } of live) {
      if (progress?.settledMsAgo !== undefined)
        this.#lastSettleAt = Math.max(this.#lastSettleAt ?? 0, now - silentMs - progress.settledMsAgo);
    }
    return { live, stuck: live.filter(isStuck).length, lastSettleAt: this.#lastSettleAt ?? this.#begunAt };
  }
}

async function readRuns({ runs }: ReadStores): Promise<RunsReading> {
  const [open, newest] = await Promise.all([runs.listOpen(MOST_OPEN), runs.list(NEWEST)]);
  const progress: RunProgress[] = [];
  await inTurns(open, async (run) => {
    const found = await unlessDamaged(() => runs.progress(run));
    if (found !== undefined) progress.push(found);
  });
  const byState: Record<RunState, number> = { running: 0, paused: 0, cancelled: 0, finished: 0 };
  for (const { state } of progress) byState[state]++;
  const isOpen = new Set(open);
  await inTurns(
    newest.filter((run) => !isOpen.has(run)),
    async (run) => {
      const standing = await unlessDamaged(() => runs.standing(run));
      if (standing !== undefined) byState[standing.state]++;
    },
  );
  const tasks = Object.fromEntries(TASK_COUNTERS.map((counter) => [counter, sum(progress, (run) => run[counter])]));
  return {
    byState,
    tasks: tasks as Record<TaskCounter, number>,
    producers: { open: sum(progress, (run) => run.producers.open), lost: sum(progress, (run) => run.producers.lost) },
    identityGap: sum(progress, identityGapOf),
    ...(await readWaitingHosts(runs, progress)),
  };
}

async function readWaitingHosts(
  runs: RunOverview,
  open: readonly RunProgress[],
): Promise<Pick<RunsReading, 'waitingHosts' | 'unreadHosts'>> {
  const waiting = open.filter(({ state, waiting }) => state === 'running' && waiting > 0);
  const found = await hostsOfRuns(runs, waiting, MOST_HOSTS);
  const intervals = new Map(waiting.map(({ run, options }) => [run, options.intervalMs]));
  const unreadHosts: UnreadHosts[] = [];
  for (const { run, lines } of found.filter(({ isAll }) => !isAll)) {
    const hosts = (await runs.hostCount(run)) - lines.length;
    if (hosts > 0) unreadHosts.push({ hosts, intervalMs: intervals.get(run) ?? 0 });
  }
  const waitingHosts = found.flatMap(({ lines }) => lines.filter(({ waiting }) => waiting > 0));
  return { waitingHosts, unreadHosts };
}

/** Reads a run; undefined if it is damaged, so that the others are still counted. */
async function unlessDamaged<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error: unknown) {
    if (!(error instanceof DamagedRunError)) throw error;
    return undefined;
  }
}

async function readHosts({ hosts }: ReadStores): Promise<HostsReading> {
  const [due, oldestDueMs, listed, count] = await Promise.all([
    hosts.due(),
    hosts.oldestDueMs(),
    hosts.paused(MOST_HOSTS),
    hosts.pausedCount(),
  ]);
  const byHand = listed.filter((host) => host.byHand).length;
  const unreachable = listed.filter((host) => host.isUnreachable && !host.byHand).length;
  // The reasons of those beyond the list are not known.
  const paused = Math.max(listed.length, count) - byHand - unreachable;
  return { due, oldestDueMs, paused, byHand, unreachable };
}

/** Returns the amount by which a run's counters break the identity; 0 if it holds. */
export function identityGapOf(progress: Pick<RunProgress, 'discovered' | TaskCounter>): number {
  return Math.abs(progress.discovered - TASK_COUNTERS.reduce((total, counter) => total + progress[counter], 0));
}

/**
 * Returns the age of the oldest among the first letters. That is the oldest of all, unless a process that held thousands of letters was
 * killed: those return to the queue in any order. A letter that isn't a task's has no time of failure.
 */
async function oldestLetterMs(letters: Pick<DeadLetters, 'browse'>, now: number): Promise<number> {
  const read = (await letters.browse(LETTERS_READ)).map(({ body }) => readDeadLetter(body));
  const times = read.flatMap((letter) => (letter === undefined ? [] : Date.parse(letter.failedAt)));
  const known = times.filter((at) => !Number.isNaN(at));
  return known.length === 0 ? 0 : Math.max(0, now - Math.min(...known));
}

async function inTurns<T>(all: readonly T[], each: (one: T) => Promise<void>): Promise<void> {
  for (const some of partsOf(all, RUNS_AT_ONCE)) await Promise.all(some.map(each));
}

function sum<T>(all: readonly T[], value: (one: T) => number): number {
  return all.reduce((total, one) => total + value(one), 0);
}

/** Leaves out undefined values. */
function known<T extends object>(values: { readonly [K in keyof T]: T[K] | undefined }): Partial<T> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Partial<T>;
}
