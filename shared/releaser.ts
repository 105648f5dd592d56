import type { Clock } from './clock.ts';
import { deadLetterOf } from './dead-letter.ts';
import { messageOf } from './errors.ts';
import type { AttemptHistory, Frontier, ReleasedTask } from './frontier.ts';
import type { Service } from './lifecycle.ts';
import type { Logger } from './logger.ts';
import type { Roster } from './roster.ts';
import type { FailedReason, Outcome } from './task/outcome.ts';
import { idOf, writeMessage } from './task/task.ts';
import type { OutgoingMessage, PublishOutcome, Transport } from './transport.ts';

/** Tasks leased by one call: a bound on how long the frontier is held. */
const BATCH = 200;
const DEFAULT_WINDOW = 1_000;
const WINDOW_PER_SLOT = 4;
const WINDOW_READ_EVERY_MS = 5_000;
/** Between two looks: often enough to keep a fast fleet fed, seldom enough to cost an idle one nothing. */
const LOOK_AT_LEAST_EVERY_MS = 250;
const LOOK_AT_MOST_EVERY_MS = 10;
const AFTER_TROUBLE_MS = 1_000;

interface ReleaserOptions {
  readonly frontier: Frontier & AttemptHistory;
  readonly transport: Transport;
  readonly roster: Roster;
  readonly clock: Clock;
  readonly log: Logger;
  /** Told of each task that fails here, before its dead letter is published; when it rejects, the task waits again. */
  readonly onFailure: (task: ReleasedTask, reason: FailedReason) => Promise<void>;
  /** Tasks that may be out at once; left out, by the number of live worker slots. */
  readonly window?: number | undefined;
}

/**
 * Moves due tasks from the frontier to the transport, as long as it runs. Every worker and producer has one; they don't
 * know of each other, since each task is leased to one of them.
 *
 * What is confirmed is queued; what was surely not taken is put back; what has an unknown fate is left to its lease.
 * Tasks that can't go any more are buried and settled here.
 */
export class Releaser implements Service {
  readonly #options: ReleaserOptions;
  readonly #stopping = new AbortController();
  #loop: Promise<void> | undefined;
  #wake: (() => void) | undefined;
  #nudged = false;
  #window = { read: Number.NEGATIVE_INFINITY, size: DEFAULT_WINDOW, unpaced: false };

  constructor(options: ReleaserOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    this.#loop ??= this.#run();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#wake?.();
    await this.#loop;
  }

  /** Says that something may be due: the next look comes soon. */
  nudge(): void {
    this.#nudged = true;
    this.#wake?.();
  }

  /** Releases until nothing more is due, the window is full or a queue is: what a producer does before it leaves. */
  async fill(): Promise<void> {
    for (;;) {
      const { tasks, refused } = await this.#releaseOnce();
      if (tasks === 0 || refused > 0) return;
    }
  }

  async #run(): Promise<void> {
    const { clock, log } = this.#options;
    while (!this.#stopping.signal.aborted) {
      try {
        const { tasks, refused, nextLookMs } = await this.#releaseOnce();
        if (refused > 0) {
          // Put back, they are due at once: without a rest, they would go round and round.
          log.warn({ tasks: refused }, 'not taken by a queue: put back, trying again');
          await clock.sleep(AFTER_TROUBLE_MS, this.#stopping.signal);
        } else if (tasks < BATCH) {
          await this.#rest(nextLookMs);
        }
      } catch (error: unknown) {
        log.warn({ error: messageOf(error) }, 'releasing failed, trying again');
        await clock.sleep(AFTER_TROUBLE_MS, this.#stopping.signal);
      }
    }
  }

  async #releaseOnce(): Promise<{ tasks: number; refused: number; nextLookMs: number }> {
    const { frontier, transport } = this.#options;
    if (transport.trouble() !== undefined) return { tasks: 0, refused: 0, nextLookMs: AFTER_TROUBLE_MS };
    const { size, unpaced } = await this.#readWindow();
    const { tasks, nextLookMs } = await frontier.release({ limit: BATCH, window: size, unpaced });
    const [going, ended] = partition(tasks);
    const refused = await Promise.all([this.#publish(going), this.#bury(ended)]);
    return { tasks: tasks.length, refused: refused[0] + refused[1], nextLookMs };
  }

  /** Returns how many were put back. */
  async #publish(tasks: readonly ReleasedTask[]): Promise<number> {
    if (tasks.length === 0) return 0;
    const { frontier, transport, clock } = this.#options;
    const outcomes = await transport.publish(tasks.map((task) => messageFor(task, clock.now())));
    const queued = new Map<string, number[]>();
    for (const [index, { task, release }] of tasks.entries()) {
      if (outcomes[index] === 'confirmed') {
        const releases = queued.get(task.run) ?? [];
        releases.push(release);
        queued.set(task.run, releases);
      }
    }
    const undelivered = tasks.filter((_, index) => isUndelivered(outcomes[index]));
    await Promise.all([
      ...Array.from(queued, ([run, releases]) => frontier.queued(run, releases)),
      ...undelivered.map((task) => this.#settle(task, { kind: 'defer' })),
    ]);
    return undelivered.length;
  }

  /** Dead letter first, confirmed, then settled: never the other way round. Returns how many were put back. */
  async #bury(ended: readonly ReleasedTask[]): Promise<number> {
    if (ended.length === 0) return 0;
    const { frontier, transport, clock } = this.#options;
    const tasks = await this.#told(ended);
    const letters = await Promise.all(
      tasks.map(async ({ verdict, task, state, problem }) =>
        deadLetterOf(task, state, {
          reason: verdict as FailedReason,
          error: problem,
          attempts: state.attempts > 0 ? await frontier.attempts(task.mark) : [],
          at: clock.now(),
        }),
      ),
    );
    const outcomes = await transport.publish(letters);
    await Promise.all(
      tasks.map((task, index) =>
        outcomes[index] === 'confirmed'
          ? this.#settle(task, { kind: 'failed', reason: task.verdict as FailedReason })
          : this.#settle(task, { kind: 'defer' }),
      ),
    );
    return ended.length - outcomes.filter((outcome) => outcome === 'confirmed').length;
  }

  /** Those that have been told of; the others wait again. */
  async #told(ended: readonly ReleasedTask[]): Promise<ReleasedTask[]> {
    const { onFailure, log } = this.#options;
    const told = await Promise.allSettled(ended.map((task) => onFailure(task, task.verdict as FailedReason)));
    const failure = told.find((result) => result.status === 'rejected');
    if (failure !== undefined) log.warn({ error: messageOf(failure.reason) }, 'a failure could not be told: it waits');
    const isTold = (_: ReleasedTask, index: number): boolean => told[index]?.status === 'fulfilled';
    await Promise.all(
      ended.filter((task, index) => !isTold(task, index)).map((task) => this.#settle(task, { kind: 'defer' })),
    );
    return ended.filter(isTold);
  }

  async #settle({ task, release }: ReleasedTask, outcome: Outcome): Promise<void> {
    await this.#options.frontier.settle(task.run, release, { outcome });
  }

  async #readWindow(): Promise<{ size: number; unpaced: boolean }> {
    const { clock, roster, window } = this.#options;
    if (clock.now() - this.#window.read > WINDOW_READ_EVERY_MS) {
      const workers = await roster.workers();
      const slots = workers.reduce((sum, worker) => sum + worker.slots, 0);
      const size = window ?? Math.max(DEFAULT_WINDOW, WINDOW_PER_SLOT * slots);
      this.#window = { read: clock.now(), size, unpaced: workers.length === 0 };
    }
    return this.#window;
  }

  /** Waits until the next look; a nudge cuts it short, but never below what keeps a busy loop idle. */
  async #rest(nextLookMs: number): Promise<void> {
    const { clock } = this.#options;
    await clock.sleep(LOOK_AT_MOST_EVERY_MS, this.#stopping.signal);
    const more = Math.min(nextLookMs, LOOK_AT_LEAST_EVERY_MS) - LOOK_AT_MOST_EVERY_MS;
    if (more > 0 && !this.#nudged && !this.#stopping.signal.aborted) {
      const woken = new AbortController();
      this.#wake = () => woken.abort();
      await clock.sleep(more, woken.signal);
      this.#wake = undefined;
    }
    this.#nudged = false;
  }
}

function partition(tasks: readonly ReleasedTask[]): [ReleasedTask[], ReleasedTask[]] {
  const [going, ended]: [ReleasedTask[], ReleasedTask[]] = [[], []];
  for (const task of tasks) (task.verdict === 'go' ? going : ended).push(task);
  return [going, ended];
}

/** The message of a task under one release. */
function messageFor({ task, release, state }: ReleasedTask, now: number): OutgoingMessage {
  return {
    to: task.queue,
    id: idOf(task),
    body: writeMessage(task),
    headers: {
      'x-attempt': state.attempts + 1,
      'x-release': release,
      'x-first-seen': state.firstSeen,
      ...(state.deadline === undefined ? {} : { 'x-deadline': state.deadline }),
    },
    ...(state.deadline === undefined ? {} : { ttlMs: Math.max(1, state.deadline - now) }),
  };
}

/** Surely not in a queue: the task can be put back at once. */
function isUndelivered(outcome: PublishOutcome | undefined): boolean {
  return outcome === 'returned' || outcome === 'refused';
}
