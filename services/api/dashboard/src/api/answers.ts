/** The parts of the API's answers that the dashboard reads. A missing optional field is shown as unknown, never as zero. */

export type RunState = 'running' | 'paused' | 'cancelled' | 'finished' | 'unknown';
type Counts = Readonly<Record<string, number>>;

/** A run, as `status --json` lists it. */
export interface Run {
  readonly run: string;
  readonly state: RunState;
  readonly crawler?: string;
  readonly discovered: number;
  readonly duplicate: number;
  readonly waiting: number;
  readonly inFlight: number;
  readonly done: number;
  readonly skipped: number;
  readonly failed: number;
  readonly cancelled: number;
  readonly reasons: { readonly failed: Counts; readonly skipped: Counts };
  readonly hostsDown?: { readonly count: number; readonly named: readonly HostDown[] };
  readonly leftOut?: Counts;
  readonly steps?: Readonly<Record<string, StepCounts>>;
  readonly bytes: number;
  readonly seconds: number;
  readonly pagesPerSecond: number;
  /** Recent pace; `pagesPerSecond` is the average since the start. */
  readonly recentPagesPerSecond?: number;
  readonly sealed?: boolean;
  readonly pauseReason?: string | null;
  /** When a local run that no process crawls was last active. */
  readonly stoppedAt?: string;
  readonly producers?: { readonly open: number; readonly lost: number };
  readonly lostProducers?: readonly { readonly id: string; readonly silentSeconds: number }[];
  /** A sentence about what keeps the run from going faster. */
  readonly bottleneck?: string | null;
  readonly etaSeconds?: number | null;
}

interface HostDown {
  readonly host: string;
  readonly kind: string;
  readonly reason: string;
}

export interface StepCounts {
  readonly discovered: number;
  readonly done: number;
  readonly skipped: number;
  readonly failed: number;
}

export interface PausedHost {
  readonly host: string;
  readonly reason: string;
  readonly byHand: boolean;
  readonly unreachable: boolean;
  readonly seconds?: number;
}

export interface Worker {
  readonly id: string;
  readonly host: string;
  readonly version: string;
  readonly slots: number;
  readonly inHand: number;
  readonly bound: string;
  readonly state: string;
  readonly silentMs: number;
}

export interface WorkerTask {
  readonly run: string;
  readonly url: string;
  readonly step?: string;
  readonly forMs?: number;
}

/** Answer of `status --json`. */
export interface Fleet {
  readonly known: number;
  readonly open: number;
  readonly runs: readonly Run[];
  readonly dueHosts: number;
  readonly pausedHostCount: number;
  /** The hosts paused longest. */
  readonly pausedHosts: readonly PausedHost[];
  readonly workers: readonly Worker[];
  /** Only in events. */
  readonly moment?: Moment;
}

/** Sums over the fleet at one moment of the last hour. */
export interface Moment {
  /** ISO 8601. */
  readonly at: string;
  readonly pagesPerSecond: number;
  readonly waiting: number;
  readonly inFlight: number;
  readonly done: number;
  readonly failed: number;
  readonly workers: number;
}

/** Roles of tokens, each allowing more than the one before. */
export const ROLES = ['read', 'submit', 'admin'] as const;
export type Role = (typeof ROLES)[number];

/** The user who is signed in. */
export interface Caller {
  readonly name: string;
  readonly role: Role;
  /** False if the API has no tokens. */
  readonly needsToken: boolean;
  /** True if the API serves the crawls of one machine. */
  readonly isLocal: boolean;
}

export interface Host {
  readonly host: string;
  readonly waiting: number;
  readonly runs: readonly string[];
  readonly paused: boolean;
  /** Seconds until it resumes; null if it is not paused, or if somebody has to resume it. */
  readonly pausedSeconds: number | null;
  readonly reason: string;
  readonly byHand: boolean;
  readonly unreachable: boolean;
  /** A pace like `60/min`; null if not known. */
  readonly rate: string | null;
  /** What sets the pace. */
  readonly because: string | null;
  readonly responseMs: number | null;
}

interface Attempt {
  readonly at: number;
  readonly worker: string;
  readonly reason: string;
  readonly status?: number;
  readonly error?: string;
}

export interface Letter {
  readonly id: string | null;
  readonly reason: string;
  readonly run?: string;
  readonly url?: string;
  readonly step?: string;
  readonly status?: number;
  readonly error?: string;
  readonly failedAt?: string;
  readonly expiresAt?: string;
  readonly firstSeen?: string;
  readonly attempts?: readonly Attempt[];
  /** Only for members and joins of a group. */
  readonly owner?: { readonly url: string };
  /** Body of a message that was not a task. */
  readonly raw?: string;
  readonly rawBase64?: string;
}

export interface Letters {
  readonly letters: readonly Letter[];
  readonly total: number;
  readonly next: string | null;
  /** True if there are more letters than are searched. */
  readonly truncated: boolean;
}

export interface Biography {
  readonly url: string;
  readonly known: boolean;
  readonly runs: readonly Chapter[];
  /** True if there are older runs, which were not searched. */
  readonly truncated: boolean;
  readonly attempts: readonly Attempt[];
  readonly letters: readonly Letter[] | null;
  readonly lettersProblem: string | null;
}

export interface Chapter {
  readonly run: string;
  /** Absent for the first step. */
  readonly step?: string;
  readonly runState: RunState;
  readonly isMarked: boolean;
  readonly hasFailed: boolean;
  readonly hasOwnMarks: boolean;
  readonly forbidden?: string;
  readonly place?: {
    readonly at: 'waiting' | 'retry' | 'publishing' | 'queued' | 'working';
    readonly queue: string;
    readonly ahead?: number;
    readonly host?: string;
    readonly inMs?: number;
    readonly forRoom?: boolean;
    readonly worker?: string;
    readonly forMs?: number;
    readonly leaseMs?: number;
  };
  readonly record?: {
    readonly outcome: string;
    readonly status?: number;
    readonly reason?: string;
    readonly error?: string;
    readonly title?: string;
    readonly fetchedAt: string;
    readonly worker: string;
    readonly attempt: number;
  };
}

export interface Crawler {
  readonly name: string;
  readonly version: string;
  readonly steps: readonly string[];
  /** Each as `name` or `name=default`. */
  readonly args: readonly string[];
}

export interface Graph {
  readonly name: string;
  readonly steps: readonly string[];
  readonly edges: readonly { readonly from?: string; readonly to: string; readonly label?: string }[];
}

export interface AuditEntry {
  /** ISO 8601. */
  readonly at: string;
  /** The token's name. */
  readonly by: string;
  readonly role: string;
  readonly action: string;
  readonly target: string;
  readonly reason: string | null;
}

export interface Finding {
  readonly what: string;
  readonly state: 'ok' | 'warning' | 'problem';
  readonly said: string;
}

export interface Webhook {
  readonly id: string;
  readonly state: string;
  readonly attempts: unknown;
}
