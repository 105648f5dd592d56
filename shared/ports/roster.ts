/**
 * Who works: every worker says every few seconds that it is alive, and what it does.
 *
 * Implementations: `stores/redis/roster.ts` for a fleet, `stores/sqlite/roster.ts` for one machine.
 */
export interface Roster {
  /** Says that a worker is alive. The time is the store's. */
  beat(worker: WorkerBeat): Promise<void>;
  /** A worker has ended as it should. */
  leave(id: string): Promise<void>;
  /** The workers that beat within {@link WORKER_SILENT_MS}; older ones are forgotten. */
  workers(): Promise<readonly LiveWorker[]>;
}

/** Between two beats. */
export const BEAT_EVERY_MS = 5_000;
/** Silent for so long, a worker counts as gone. */
export const WORKER_SILENT_MS = 30_000;

export interface WorkerBeat {
  /** `<hostname>-<8 hex>`, new per process. */
  readonly id: string;
  readonly host: string;
  readonly version: string;
  /** Pages that it works on at once. */
  readonly slots: number;
  /** Deliveries that it works on now. */
  readonly inHand: number;
  /** Is it taking deliveries? If not, why. */
  readonly state: 'consuming' | 'stopping' | `waiting: ${string}`;
}

export interface LiveWorker extends WorkerBeat {
  /** Milliseconds since its last beat. */
  readonly silentMs: number;
}
