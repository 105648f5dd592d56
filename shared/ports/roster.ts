import { acceptsSome, type TransportTrouble } from './transport.ts';

/**
 * The live workers. Each reports every few seconds that it is alive, and what it is doing.
 *
 * Implementations: `stores/redis/roster.ts` for a fleet, `stores/sqlite/roster.ts` for one machine.
 */
export interface Roster {
  /** Reports that a worker is alive, at the store's own time. */
  beat(worker: WorkerBeat): Promise<void>;
  /** Removes a worker that has ended normally. */
  leave(id: string): Promise<void>;
  /** Returns the workers with a beat within {@link WORKER_SILENT_MS}. Others are forgotten. */
  workers(): Promise<readonly LiveWorker[]>;
  /**
   * Returns how many workers there are, and how many slots they have. Every worker asks several times a second, and the list of 500 workers
   * takes more than a megabyte: this takes some kilobytes.
   */
  capacity(): Promise<Capacity>;
}

/** What all live workers together can do. */
export interface Capacity {
  readonly workers: number;
  readonly slots: number;
}

/** Milliseconds between two beats. */
export const BEAT_EVERY_MS = 5_000;
/** Time after which a silent worker counts as gone. */
export const WORKER_SILENT_MS = 30_000;

/**
 * The reason why a worker does no more than it does. `slots`: more slots would let it do more. `politeness`: no more hosts may
 * be asked right now. `network`: it asked several hosts, and none answers. `proxies`: none of its proxies is usable.
 * `sink`: records wait for seconds to be stored.
 */
export type WorkerBound = 'network' | 'proxies' | 'sink' | 'slots' | 'cpu' | 'memory' | 'files' | 'politeness';

/** Version of the messages that a worker understands. From 2 on, it understands groups and joins. A beat without one means 1. */
export const PROTOCOL = 2;

export interface WorkerBeat {
  /** `<hostname>-<8 hex>`, new per process. */
  readonly id: string;
  readonly host: string;
  readonly version: string;
  /** See {@link PROTOCOL}. */
  readonly protocol?: number;
  /** Versions of the crawlers it runs, by name. Older workers don't report them. */
  readonly crawlers?: Readonly<Record<string, string>>;
  /** Secrets missing from its environment, by crawler. It doesn't run these crawlers. Absent if none is missing. */
  readonly lacking?: Readonly<Record<string, readonly string[]>>;
  /** Number of pages it can work on at once. */
  readonly slots: number;
  /** What keeps it from working on more. */
  readonly bound: WorkerBound;
  /** Number of deliveries it is working on. */
  readonly inHand: number;
  /** The tasks it has had longest, at most twenty. Older workers don't report them. */
  readonly tasks?: readonly TaskInHand[];
  /** Whether it takes deliveries, and if not, why. */
  readonly state: 'consuming' | 'stopping' | `waiting: ${string}`;
  /** What hinders it from publishing the tasks it releases. Absent if nothing does. Older workers don't report it. */
  readonly brokerTrouble?: TransportTrouble;
  /** Its progress. Older workers don't report it. */
  readonly progress?: WorkProgress;
}

/**
 * Returns whether a worker can ask hosts. It can't without deliveries, nor for long while publishing is impossible, since the
 * queues soon run empty. Time in which no worker is at work does not count towards giving up a host.
 */
export function isAtWork({ state, brokerTrouble }: Pick<WorkerBeat, 'state' | 'brokerTrouble'>): boolean {
  return state === 'consuming' && acceptsSome(brokerTrouble);
}

/** A task that a worker has in hand, as of a beat. */
export interface TaskInHand {
  readonly run: string;
  /** Without credentials, and shortened if it is long. */
  readonly url: string;
  /** A step of the run's crawler; `''` is the first. */
  readonly step: string;
  /** Milliseconds it has been in hand. */
  readonly forMs: number;
}

/** A worker's progress, as of a beat. */
export interface WorkProgress {
  /** Milliseconds since its last settle. Absent if there was none yet. */
  readonly settledMsAgo?: number;
  /** Milliseconds since its last settle, or since it last went from nothing in hand to something, whichever is less. */
  readonly unsettledMs: number;
  /** Time without a settle after which a worker with tasks in hand is stuck: its `STEP_TIMEOUT` plus its `FETCH_TIMEOUT`. */
  readonly stuckAfterMs: number;
  /** Average of the last minute. Absent in its first second. */
  readonly pagesPerSecond?: number;
  /** Share of the last minute in which its event loop was busy. */
  readonly busyShare?: number;
}

export interface LiveWorker extends WorkerBeat {
  /** Milliseconds since its last beat. */
  readonly silentMs: number;
}
