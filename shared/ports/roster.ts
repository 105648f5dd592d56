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
 * several.
 */
export type WorkerBound = 'network' | 'slots' | 'cpu' | 'memory' | 'files' | 'politeness';

export interface WorkerBeat {
  /** `<hostname>-<8 hex>`, new per process. */
  readonly id: string;
  readonly host: string;
  readonly version: string;
  /** Pages that it works on at once. */
  readonly slots: number;
  /** What keeps it from working on more. */
  readonly bound: WorkerBound;
  /** Deliveries that it works on now. */
  readonly inHand: number;
  /** Is it taking deliveries? If not, why not? */
  readonly state: 'consuming' | 'stopping' | `waiting: ${string}`;
}

export interface LiveWorker extends WorkerBeat {
  /** Milliseconds since its last beat. */
  readonly silentMs: number;
}
