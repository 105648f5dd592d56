import type { TransportTrouble } from './transport.ts';

/**
 * The live workers: each says every few seconds that it is alive, and what it does.
 *
 * Implementations: `stores/redis/roster.ts` for a fleet, `stores/sqlite/roster.ts` for one machine.
 */
export interface Roster {
  /** Says that a worker is alive. The time is the store's. */
  beat(worker: WorkerBeat): Promise<void>;
  /** A worker has ended normally. */
  leave(id: string): Promise<void>;
  /** The workers that beat within {@link WORKER_SILENT_MS}; older ones are forgotten. */
  workers(): Promise<readonly LiveWorker[]>;
}

/** Between two beats. */
export const BEAT_EVERY_MS = 5_000;
/** A worker that has been silent this long counts as gone. */
export const WORKER_SILENT_MS = 30_000;

/**
 * `slots`: more slots would let it do more. `politeness`: no more hosts may be asked just now. `network`: no host answers it, of
 * several. `proxies`: none of its proxies can be used. `sink`: records wait for seconds to be stored.
 */
export type WorkerBound = 'network' | 'proxies' | 'sink' | 'slots' | 'cpu' | 'memory' | 'files' | 'politeness';

/** What workers understand: messages of groups and joins from 2 on. A beat that names none is of 1. */
export const PROTOCOL = 2;

export interface WorkerBeat {
  /** `<hostname>-<8 hex>`, new per process. */
  readonly id: string;
  readonly host: string;
  readonly version: string;
  /** See {@link PROTOCOL}. */
  readonly protocol?: number;
  /** The versions of the crawlers that it works with, by their names. Left out by workers of earlier versions. */
  readonly crawlers?: Readonly<Record<string, string>>;
  /** The secrets that its environment lacks, by the crawlers that it therefore doesn't work with. Left out if it lacks none. */
  readonly lacking?: Readonly<Record<string, readonly string[]>>;
  /** Pages that it works on at once. */
  readonly slots: number;
  /** What keeps it from working on more. */
  readonly bound: WorkerBound;
  /** Deliveries that it works on now. */
  readonly inHand: number;
  /** Those of them that it has had longest, at most twenty. Left out by workers of earlier versions. */
  readonly tasks?: readonly TaskInHand[];
  /** Is it taking deliveries? If not, why not? */
  readonly state: 'consuming' | 'stopping' | `waiting: ${string}`;
  /** What keeps it from publishing what it releases. Left out if nothing does, and by workers of earlier versions. */
  readonly brokerTrouble?: TransportTrouble;
  /** How it gets on. Left out by workers of earlier versions. */
  readonly progress?: WorkProgress;
}

/**
 * Can the worker ask hosts? Not without deliveries, nor while it can publish none: those that are left in the queues soon end. Time in
 * which no worker can counts towards giving up no host.
 */
export function isAtWork({ state, brokerTrouble }: Pick<WorkerBeat, 'state' | 'brokerTrouble'>): boolean {
  return state === 'consuming' && (brokerTrouble === undefined || brokerTrouble === 'full');
}

/** A task that a worker has in hand, as of a beat. */
export interface TaskInHand {
  readonly run: string;
  /** Without credentials; of a long one, its beginning. */
  readonly url: string;
  /** A step of the run's crawler; `''` is the first. */
  readonly step: string;
  /** How long it has been in hand. */
  readonly forMs: number;
}

/** How a worker gets on, as of a beat. */
export interface WorkProgress {
  /** Since its last settle; left out if there was none yet. */
  readonly settledMsAgo?: number;
  /** Since its last settle, or since it has had anything in hand, whichever is less. */
  readonly unsettledMs: number;
  /** With tasks in hand it is stuck after this long without a settle: its `STEP_TIMEOUT` and `FETCH_TIMEOUT` together. */
  readonly stuckAfterMs: number;
  /** Of the last minute. Left out in its first second. */
  readonly pagesPerSecond?: number;
  /** The share of the last minute in which its event loop was busy. */
  readonly busyShare?: number;
}

export interface LiveWorker extends WorkerBeat {
  /** Milliseconds since its last beat. */
  readonly silentMs: number;
}
