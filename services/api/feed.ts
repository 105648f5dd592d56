import type { z } from 'zod';
import { fleetStatusJson, runStatusJson } from '../../shared/control/status-json.ts';
import type { RunTally } from '../../shared/ports/run-overview.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import { messageOf, UnavailableError } from '../../shared/runtime/errors.ts';
import type { Service } from '../../shared/runtime/lifecycle.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import { HOUR_MS, SECOND_MS } from '../../shared/task/durations.ts';
import { averagePace, FleetPace } from './fleet-pace.ts';
import type { momentSchema } from './schemas/answers.ts';
import type { FleetSnapshot, Snapshots } from './snapshots.ts';

/** Time between two reads of the fleet while anybody listens. */
const TICK_MS = SECOND_MS;
/** Time between two moments of the hour's history, which is kept whether anybody listens or not. */
export const MOMENT_EVERY_MS = 5 * SECOND_MS;
const MOST_MOMENTS = HOUR_MS / MOMENT_EVERY_MS;

/** The fleet's figures at one moment. */
export type Moment = z.infer<typeof momentSchema>;

/** Names of the events that listeners receive. */
export type FeedEvent = 'fleet' | 'run' | 'unavailable';
type Listener = (event: FeedEvent, data: string) => void;

interface Listening {
  readonly listener: Listener;
  /** The run to report besides the fleet. */
  readonly run: string | undefined;
}

/** Reads the fleet once a second while anybody listens, however many do, and keeps the figures of the last hour. */
export class FleetFeed implements Service {
  readonly #snapshots: Snapshots;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #listening = new Set<Listening>();
  readonly #stopped = new AbortController();
  #woken = Promise.withResolvers<void>();
  #moments: Moment[] = [];
  readonly #pace = new FleetPace();
  #sampledAt = Number.NEGATIVE_INFINITY;
  #hasLooked = false;
  #failure = '';
  #loop: Promise<void> = Promise.resolve();

  constructor(snapshots: Snapshots, clock: Clock, log: Logger) {
    this.#log = log;
    this.#snapshots = snapshots;
    this.#clock = clock;
  }

  /** The moments of the last hour, oldest first. */
  get moments(): readonly Moment[] {
    return this.#moments;
  }

  /** Sends a listener every event from now on, the first one at once. Returns a function that ends this. */
  listen(listener: Listener, run?: string): () => void {
    const listening = { listener, run };
    this.#listening.add(listening);
    this.#woken.resolve();
    return () => void this.#listening.delete(listening);
  }

  get listeners(): number {
    return this.#listening.size;
  }

  async start(): Promise<void> {
    this.#loop = this.#run();
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    this.#woken.resolve();
    await this.#loop;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      const isSampling = this.#clock.monotonic() - this.#sampledAt >= MOMENT_EVERY_MS;
      if (this.#listening.size > 0 || isSampling) await this.#look(isSampling);
      this.#woken = Promise.withResolvers();
      if (this.#listening.size > 0) await this.#clock.sleep(TICK_MS, signal);
      else await this.#sleepUntilWoken(signal);
    }
  }

  async #sleepUntilWoken(signal: AbortSignal): Promise<void> {
    const over = new AbortController();
    const sleeping = this.#clock.sleep(MOMENT_EVERY_MS, AbortSignal.any([signal, over.signal]));
    await Promise.race([sleeping, this.#woken.promise]);
    over.abort();
  }

  async #look(isSampling: boolean): Promise<void> {
    try {
      const snapshot = await this.#snapshots.fleet();
      const moment = this.#momentOf(snapshot);
      // The first look has nothing to compare with: its pace is the average since each run began.
      const isFirst = !this.#hasLooked;
      this.#hasLooked = true;
      if (isSampling && !isFirst) {
        this.#sampledAt = this.#clock.monotonic();
        this.#moments = [...this.#moments.slice(1 - MOST_MOMENTS), moment];
      }
      if (this.#listening.size === 0) return;
      const fleet = JSON.stringify({ ...fleetStatusJson(snapshot.list, snapshot.hosts), moment });
      this.#tell('fleet', fleet, () => true);
      await this.#tellRuns();
    } catch (error: unknown) {
      const detail = error instanceof UnavailableError ? error.message : 'the fleet could not be read';
      this.#tell('unavailable', JSON.stringify({ detail }), () => true);
      if (!(error instanceof UnavailableError)) this.#tellOnce(messageOf(error));
    }
  }

  /** Logs a failure that is no outage. The same failure again is not logged. */
  #tellOnce(reason: string): void {
    if (reason !== this.#failure) this.#log.error({ reason }, 'the fleet could not be read');
    this.#failure = reason;
  }

  async #tellRuns(): Promise<void> {
    const runs = new Set([...this.#listening].flatMap(({ run }) => run ?? []));
    for (const run of runs) {
      const found = await this.#snapshots.run(run);
      const document =
        found === undefined ? { run, state: 'unknown' } : runStatusJson(found.view, found.workers, found.hosts);
      this.#tell('run', JSON.stringify(document), (listening) => listening.run === run);
    }
  }

  #tell(event: FeedEvent, data: string, isMeant: (listening: Listening) => boolean): void {
    for (const listening of [...this.#listening]) if (isMeant(listening)) listening.listener(event, data);
  }

  #momentOf({ list, tallies }: FleetSnapshot): Moment {
    const listed = list.views.map(({ progress }) => progress);
    const names = new Set(listed.map(({ run }) => run));
    // All open runs, of which the list has the newest, and the newest of those that have ended.
    const runs: readonly RunTally[] = [...listed, ...tallies.filter(({ run }) => !names.has(run))];
    const sum = (of: (run: RunTally) => number): number => runs.reduce((total, run) => total + of(run), 0);
    const ended = new Set(listed.flatMap(({ run, endedAt }) => (endedAt === undefined ? [] : run)));
    const pace =
      this.#pace.look(runs, this.#clock.monotonic()) ?? sum((run) => (ended.has(run.run) ? 0 : averagePace(run)));
    return {
      at: new Date(this.#clock.now()).toISOString(),
      pagesPerSecond: Number(pace.toFixed(2)),
      waiting: sum(({ waiting }) => waiting),
      inFlight: sum(({ inFlight }) => inFlight),
      done: sum(({ done }) => done),
      failed: sum(({ failed }) => failed),
      workers: list.workers.length,
    };
  }
}
