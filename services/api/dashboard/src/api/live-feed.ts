import { SECOND_MS } from '../../../../../shared/task/durations.ts';
import type { Fleet, Moment, Run } from './answers.ts';
import { ApiProblem, ask, queryOf, sentenceOf, UNAUTHORIZED } from './client.ts';

/**
 * The state of the feed.
 *
 * | state        | what the user sees                                 | leads to                          |
 * |--------------|----------------------------------------------------|-----------------------------------|
 * | `connecting` | nothing yet                                        | `live`, `away`, `signed out`      |
 * | `live`       | figures that move                                  | `away`, `signed out`, `resting`   |
 * | `away`       | the last figures, why they are old, the next try   | `live`, `signed out`, `resting`   |
 * | `signed out` | the form for a token                               | `connecting`                      |
 * | `resting`    | nothing: the tab is hidden                         | `connecting`                      |
 */
type Connection =
  | { readonly state: 'connecting' | 'live' | 'resting' }
  /** `hasEnded`: the user was signed in until now and did not sign out. */
  | { readonly state: 'signed out'; readonly hasEnded: boolean }
  | { readonly state: 'away'; readonly why: string; readonly triesAt: number | undefined };

/** The feed's data at one moment. */
export interface Snapshot {
  readonly connection: Connection;
  readonly fleet: Fleet | undefined;
  /** The fleet's sums; nothing before the first event. */
  readonly moment: Moment | undefined;
  /** The watched run. */
  readonly run: Run | undefined;
  readonly history: readonly Moment[];
  /** The API's sentence about unreachable services, or nothing if all are reachable. */
  readonly stores: string | undefined;
  /** Number of connections made so far. Answers from before the present one might be stale. */
  readonly epoch: number;
}

/** Silence after which a connection is considered dead: the API sends the fleet every second. */
const SILENT_MS = 20_000;
const FIRST_RETRY_MS = 1_000;
const LAST_RETRY_MS = 5_000;
const HISTORY_MS = 3_600_000;
/** Time between two points of the last hour. */
const MOMENT_EVERY_MS = 5_000;
const STORES_EVERY_MS = 5_000;

const NOTHING: Snapshot = {
  connection: { state: 'connecting' },
  fleet: undefined,
  moment: undefined,
  run: undefined,
  history: [],
  stores: undefined,
  epoch: 0,
};

/** Keeps the page up to date through `/api/events`, and says so when it can't. */
export class LiveFeed {
  #snapshot: Snapshot = NOTHING;
  #source: EventSource | undefined;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #silence: ReturnType<typeof setTimeout> | undefined;
  #storesTimer: ReturnType<typeof setInterval> | undefined;
  #retryMs = FIRST_RETRY_MS;
  #watched: string | undefined;
  readonly #listeners = new Set<() => void>();

  get snapshot(): Snapshot {
    return this.#snapshot;
  }

  start(): void {
    document.addEventListener('visibilitychange', this.#onVisibility);
    addEventListener(UNAUTHORIZED, this.#onUnauthorized);
    this.#storesTimer = setInterval(() => void this.#lookAtStores(), STORES_EVERY_MS);
    this.connect();
  }

  stop(): void {
    document.removeEventListener('visibilitychange', this.#onVisibility);
    removeEventListener(UNAUTHORIZED, this.#onUnauthorized);
    clearInterval(this.#storesTimer);
    this.#close();
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Follows this run besides the fleet, or no run. */
  watch(run: string | undefined): void {
    if (run === this.#watched) return;
    this.#watched = run;
    this.#set({ run: undefined });
    if (this.#source !== undefined) this.connect();
  }

  /** Opens a new connection: at the start, after signing in, and when the user presses "Try now". */
  connect(): void {
    this.#close();
    const source = new EventSource(`api/events${queryOf({ run: this.#watched })}`);
    this.#source = source;
    source.addEventListener('open', () => this.#onOpen(source));
    source.addEventListener('fleet', (event) => this.#onFleet(source, event));
    source.addEventListener('run', (event) => this.#onRun(source, event));
    source.addEventListener('unavailable', (event) => this.#onUnavailable(source, event));
    source.addEventListener('error', () => void this.#onError(source));
    this.#expectEvent();
    void this.#lookAtStores();
  }

  /** Ends the session and drops all data. */
  async signOut(): Promise<void> {
    await ask('DELETE', 'api/session');
    this.#close();
    this.#set({ ...NOTHING, connection: { state: 'signed out', hasEnded: false } });
  }

  #close(): void {
    this.#source?.close();
    this.#source = undefined;
    clearTimeout(this.#retry);
    clearTimeout(this.#silence);
  }

  #onOpen(source: EventSource): void {
    if (source !== this.#source) return;
    this.#retryMs = FIRST_RETRY_MS;
    this.#set({ epoch: this.#snapshot.epoch + 1 });
    void this.#readHistory();
  }

  #onFleet(source: EventSource, event: Event): void {
    if (source !== this.#source) return;
    const fleet = read<Fleet>(event);
    if (fleet === undefined) return;
    this.#expectEvent();
    this.#take(fleet);
    if (this.#snapshot.connection.state !== 'live') this.#set({ connection: { state: 'live' } });
  }

  #onRun(source: EventSource, event: Event): void {
    const run = read<Run>(event);
    if (source === this.#source && run !== undefined && run.run === this.#watched) this.#set({ run });
  }

  /** Notes that the API's store is away. The API keeps sending events meanwhile. */
  #onUnavailable(source: EventSource, event: Event): void {
    if (source !== this.#source) return;
    this.#expectEvent();
    const why = read<{ detail: string }>(event)?.detail ?? 'its store is away';
    this.#set({ connection: { state: 'away', why, triesAt: undefined } });
  }

  /** Sends a plain request to find out why the event source failed, which it doesn't say. */
  async #onError(source: EventSource): Promise<void> {
    if (source !== this.#source) return;
    this.#close();
    let why = 'the connection broke';
    let waitMs = this.#retryMs;
    try {
      await ask<Fleet>('GET', 'api/fleet');
    } catch (error: unknown) {
      if (this.#source !== undefined || this.#snapshot.connection.state === 'signed out') return;
      why = sentenceOf(error);
      if (error instanceof ApiProblem) waitMs = Math.min(error.retryAfterMs ?? waitMs, LAST_RETRY_MS);
    }
    if (this.#source === undefined) this.#retryIn(waitMs, why);
  }

  #retryIn(waitMs: number, why: string): void {
    clearTimeout(this.#retry);
    this.#set({ connection: { state: 'away', why, triesAt: Date.now() + waitMs } });
    this.#retryMs = Math.min(this.#retryMs * 2, LAST_RETRY_MS);
    this.#retry = setTimeout(() => this.connect(), waitMs);
  }

  #expectEvent(): void {
    clearTimeout(this.#silence);
    const source = this.#source;
    this.#silence = setTimeout(() => {
      if (source !== undefined) void this.#onError(source);
    }, SILENT_MS);
  }

  #take(fleet: Fleet): void {
    const { moment } = fleet;
    this.#set({ fleet, ...(moment === undefined ? {} : { moment }) });
    const last = this.#snapshot.history.at(-1);
    if (moment === undefined) return;
    const at = Date.parse(moment.at);
    if (last !== undefined && at - Date.parse(last.at) < MOMENT_EVERY_MS) return;
    const history = [...this.#snapshot.history, moment].filter((each) => at - Date.parse(each.at) <= HISTORY_MS);
    this.#set({ history });
  }

  /** Replaces this page's own moments by the API's record of the last hour. */
  async #readHistory(): Promise<void> {
    try {
      const { moments } = await ask<{ moments: readonly Moment[] }>('GET', 'api/fleet/history');
      this.#set({ history: moments });
    } catch {
      // Keeps the page's own moments.
    }
  }

  async #lookAtStores(): Promise<void> {
    if (document.hidden) return;
    let stores: string | undefined;
    try {
      await ask('GET', 'readyz');
    } catch (error: unknown) {
      if (error instanceof ApiProblem && error.status === 503) stores = sentenceOf(error);
    }
    if (stores !== this.#snapshot.stores) this.#set({ stores });
  }

  /** Signs out after any 401: the session is over, its token was removed, or there never was one. */
  readonly #onUnauthorized = (): void => {
    const { connection, fleet } = this.#snapshot;
    if (connection.state === 'signed out') return;
    this.#close();
    this.#set({ connection: { state: 'signed out', hasEnded: fleet !== undefined } });
  };

  /** Disconnects hidden tabs: a browser allows six connections to a host, and they must not hold them all. */
  readonly #onVisibility = (): void => {
    if (!document.hidden) {
      if (this.#source === undefined && this.#snapshot.connection.state !== 'signed out') this.connect();
      return;
    }
    this.#close();
    if (this.#snapshot.connection.state === 'live') this.#set({ connection: { state: 'resting' } });
  };

  #set(change: Partial<Snapshot>): void {
    this.#snapshot = { ...this.#snapshot, ...change };
    for (const listener of this.#listeners) listener();
  }
}

/** Returns the whole seconds until a time, at least 0. */
export function secondsUntil(at: number, now: number): number {
  return Math.max(0, Math.ceil((at - now) / SECOND_MS));
}

function read<T>(event: Event): T | undefined {
  try {
    return JSON.parse((event as MessageEvent<string>).data) as T;
  } catch {
    return undefined;
  }
}
