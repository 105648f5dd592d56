import { SECOND_MS } from '../../../../../shared/task/durations.ts';
import type { Fleet, Moment, Run } from './answers.ts';
import { ApiProblem, ask, queryOf, sentenceOf, UNAUTHORIZED } from './client.ts';

/**
 * How the feed stands.
 *
 * | state        | what the reader sees                               | leads to                          |
 * |--------------|----------------------------------------------------|-----------------------------------|
 * | `connecting` | nothing yet                                        | `live`, `away`, `signed out`      |
 * | `live`       | figures that move                                  | `away`, `signed out`, `resting`   |
 * | `away`       | the last figures, why they stand, and the next try | `live`, `signed out`, `resting`   |
 * | `signed out` | the form for a token                               | `connecting`                      |
 * | `resting`    | nothing: the tab is hidden                         | `connecting`                      |
 */
type Connection =
  | { readonly state: 'connecting' | 'live' | 'resting' }
  /** `hasEnded`: somebody was signed in until now, and did not sign out. */
  | { readonly state: 'signed out'; readonly hasEnded: boolean }
  | { readonly state: 'away'; readonly why: string; readonly triesAt: number | undefined };

/** What the feed knows at one moment. */
export interface Snapshot {
  readonly connection: Connection;
  readonly fleet: Fleet | undefined;
  /** The fleet's sums; nothing before the first event. */
  readonly moment: Moment | undefined;
  /** The run that is watched. */
  readonly run: Run | undefined;
  readonly history: readonly Moment[];
  /** What the API says is wrong with its stores; nothing if all is well. */
  readonly stores: string | undefined;
  /** Counts connections: an answer of an earlier one may be stale. */
  readonly epoch: number;
}

/** The API sends the fleet every second: this long without any is a dead connection that nobody closed. */
const SILENT_MS = 20_000;
const FIRST_RETRY_MS = 1_000;
const LAST_RETRY_MS = 5_000;
const HISTORY_MS = 3_600_000;
/** Between two points of the last hour. */
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

  /** Also follows this run, or none. */
  watch(run: string | undefined): void {
    if (run === this.#watched) return;
    this.#watched = run;
    this.#set({ run: undefined });
    if (this.#source !== undefined) this.connect();
  }

  /** Begins anew: at the start, after signing in, and when a person does not want to wait. */
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

  /** Ends the session, and forgets what it has seen. */
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

  /** The API is there, and its store is not: it goes on telling. */
  #onUnavailable(source: EventSource, event: Event): void {
    if (source !== this.#source) return;
    this.#expectEvent();
    const why = read<{ detail: string }>(event)?.detail ?? 'its store is away';
    this.#set({ connection: { state: 'away', why, triesAt: undefined } });
  }

  /** An event source says that something failed, not what: a plain request does. */
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

  /** The last hour as the API kept it, instead of what this page has seen. */
  async #readHistory(): Promise<void> {
    try {
      const { moments } = await ask<{ moments: readonly Moment[] }>('GET', 'api/fleet/history');
      this.#set({ history: moments });
    } catch {
      // The page's own moments stay.
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

  /** Whichever request was refused: the session is over, its token is gone, or there never was one. */
  readonly #onUnauthorized = (): void => {
    const { connection, fleet } = this.#snapshot;
    if (connection.state === 'signed out') return;
    this.#close();
    this.#set({ connection: { state: 'signed out', hasEnded: fleet !== undefined } });
  };

  /** A browser allows six connections to a host: hidden tabs must not hold them all. */
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

/** Seconds until the next try. */
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
