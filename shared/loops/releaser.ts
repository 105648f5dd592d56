import { randomUUID } from 'node:crypto';
import { deadLetterOf, earlierAttempts } from '../ports/dead-letter.ts';
import { type AttemptHistory, type Frontier, nameOf, type ReleasedTask } from '../ports/frontier/frontier.ts';
import { type Groups, ownerOf } from '../ports/frontier/groups.ts';
import type { Roster } from '../ports/roster.ts';
import { acceptsSome, type OutgoingMessage, type PublishOutcome, type Transport } from '../ports/transport.ts';
import type { Clock } from '../runtime/clock.ts';
import { messageOf } from '../runtime/errors.ts';
import type { Service } from '../runtime/lifecycle.ts';
import type { Logger } from '../runtime/logger.ts';
import { writeMessage } from '../task/task/message.ts';
import type { FailedReason, Outcome } from '../task/task/outcome.ts';
import { idOf } from '../task/task/task.ts';

/** Maximum tasks leased by one call, to bound how long it blocks the frontier. */
const BATCH = 200;
const DEFAULT_WINDOW = 1_000;
const WINDOW_PER_SLOT = 4;
/** How long the number of worker slots is cached after it has changed. Doubled while it stays the same, up to {@link SLOTS_KNOWN_MOST_MS}. */
const SLOTS_KNOWN_MS = 500;
const SLOTS_KNOWN_MOST_MS = 5_000;
/** Bounds of the time between two looks: short enough to keep a fast fleet fed, long enough to cost an idle fleet almost nothing. */
const LOOK_AT_LEAST_EVERY_MS = 250;
const LOOK_AT_MOST_EVERY_MS = 10;
const AFTER_TROUBLE_MS = 1_000;
/** How long a task waits whose message the broker refuses as too large. Others are released meanwhile. */
const TOO_LARGE_WAITS_MS = 60_000;
/**
 * A process that leaves looking to another tries to take over when that one's lease ends, plus a random delay of up to this long per
 * worker. So the processes come one after another, and many cost no more than a few.
 */
const TURN_MS = 10;
const LATEST_TURN_MS = 2_000;

const TOO_LARGE = "larger than RabbitMQ's max_message_size: put back for a minute; raise it in rabbitmq.conf";
const SHOWN_LENGTH = 200;

interface ReleaserOptions {
  readonly frontier: Frontier & AttemptHistory & Pick<Groups, 'owner'>;
  readonly transport: Transport;
  readonly roster: Pick<Roster, 'capacity'>;
  readonly clock: Clock;
  readonly log: Logger;
  /** Called for each task that fails here, before its dead letter is published. If it rejects, the task is put back. */
  readonly onFailure: (task: ReleasedTask, reason: FailedReason) => Promise<void>;
  /** Maximum tasks out of the frontier at once. Left out: computed from the number of live worker slots. */
  readonly window?: number | undefined;
  /** Returns a number in [0, 1), to spread the looks of many processes. */
  readonly random?: () => number;
}

/** The result of one look at the frontier. */
interface Look {
  readonly tasks: number;
  /** Number of tasks put back because no queue took them. */
  readonly refused: number;
  readonly nextLookMs: number;
  /** Another process looks on behalf of all. */
  readonly isLeftToOther: boolean;
}

/**
 * Moves due tasks from the frontier to the transport while it runs. Every worker and producer has one. While one releaser finds
 * fewer tasks than it could take, it looks on behalf of all: the others leave the work to it, and take over within a lease if it
 * dies. When there is more to do, all help; each task is leased to only one of them.
 *
 * | the task                                            | then                               |
 * |-----------------------------------------------------|------------------------------------|
 * | was confirmed by the transport                      | it is noted as queued              |
 * | was certainly not taken by a queue                  | it is put back                     |
 * | is larger than the broker accepts                   | it is put back, to wait a minute   |
 * | has an unknown fate                                 | it stays out until its lease ends  |
 * | can't be released any more (past its deadline, say) | it is dead-lettered and settled    |
 */
export class Releaser implements Service {
  readonly #options: ReleaserOptions;
  readonly #looker = randomUUID();
  readonly #stopping = new AbortController();
  #loop: Promise<void> | undefined;
  #wake: (() => void) | undefined;
  #nudged = false;
  #window = {
    until: Number.NEGATIVE_INFINITY,
    knownMs: SLOTS_KNOWN_MS,
    slots: 0,
    size: DEFAULT_WINDOW,
    unpaced: false,
    workers: 0,
  };

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

  /** Signals that something may be due, so that the next look comes soon. */
  nudge(): void {
    this.#nudged = true;
    this.#wake?.();
  }

  /** Releases until nothing more is due, or the window or a queue is full. A producer does this before it exits. */
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
        const { tasks, refused, nextLookMs, isLeftToOther } = await this.#releaseOnce(this.#looker);
        if (isLeftToOther) {
          await this.#standBy(nextLookMs);
        } else if (refused > 0) {
          // Tasks put back are due at once: without a rest, they would be released and refused in a tight loop.
          log.warn({ tasks: refused }, 'not accepted by a queue: put back, trying again');
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

  /** @param looker this process' id as a looker; without it, looks even if another process looks on behalf of all */
  async #releaseOnce(looker?: string): Promise<Look> {
    const { frontier, transport, log } = this.#options;
    const nothing = { tasks: 0, refused: 0, isLeftToOther: false };
    if (!acceptsSome(transport.trouble())) return { ...nothing, nextLookMs: AFTER_TROUBLE_MS };
    const { size, unpaced } = await this.#readWindow();
    const look = { limit: BATCH, window: size, unpaced, ...(looker === undefined ? {} : { looker }) };
    const { tasks, nextLookMs, now, isLeftToOther = false, damaged = [] } = await frontier.release(look);
    for (const { run, why } of damaged) {
      log.error(
        { run, error: why },
        'a run is damaged in the store and held back. Restore it from a backup, or crawl again under another name:',
      );
    }
    if (isLeftToOther) return { ...nothing, nextLookMs, isLeftToOther };
    const going = tasks.filter(({ verdict }) => verdict === 'go');
    const ended = tasks.filter(({ verdict }) => verdict !== 'go');
    const refused = await Promise.all([this.#publish(going, now), this.#deadLetter(ended)]);
    return { tasks: tasks.length, refused: refused[0] + refused[1], nextLookMs, isLeftToOther };
  }

  /** Publishes tasks to their queues. Returns how many were put back. */
  async #publish(tasks: readonly ReleasedTask[], now: number): Promise<number> {
    if (tasks.length === 0) return 0;
    const { frontier, transport } = this.#options;
    const outcomes = await transport.publish(tasks.map((task) => messageFor(task, now)));
    const confirmed = tasks.filter((_, index) => outcomes[index] === 'confirmed');
    const undelivered = tasks.filter((_, index) => isUndelivered(outcomes[index]));
    await Promise.all([
      ...Array.from(byRun(confirmed), ([run, queued]) => frontier.queued(run, queued.map(nameOf))),
      ...undelivered.map((task) => this.#settle(task, { kind: 'defer' })),
      this.#putOff(tasks.filter((_, index) => outcomes[index] === 'too_large')),
    ]);
    return undelivered.length;
  }

  /** Publishes dead letters, awaits their confirms, then settles: never the other way round. Returns how many were put back. */
  async #deadLetter(ended: readonly ReleasedTask[]): Promise<number> {
    if (ended.length === 0) return 0;
    const { frontier, transport, clock } = this.#options;
    const tasks = await this.#told(ended);
    const letters = await Promise.all(
      tasks.map(async ({ verdict, task, state, problem }) =>
        deadLetterOf(task, state, {
          reason: verdict as FailedReason,
          error: problem,
          attempts: await earlierAttempts(task, state, frontier),
          owner: await ownerOf(task, frontier),
          at: clock.now(),
        }),
      ),
    );
    const outcomes = await transport.publish(letters);
    const deadLettered = tasks.filter((_, index) => outcomes[index] === 'confirmed');
    const tooLarge = tasks.filter((_, index) => outcomes[index] === 'too_large');
    const kept = tasks.filter((_, index) => outcomes[index] !== 'confirmed' && outcomes[index] !== 'too_large');
    await Promise.all([
      ...this.#fail(deadLettered),
      ...kept.map((task) => this.#settle(task, { kind: 'defer' })),
      this.#putOff(tooLarge),
    ]);
    return ended.length - deadLettered.length - tooLarge.length;
  }

  /** Puts back tasks whose messages are too large, to be tried again once that may have been changed. */
  async #putOff(tasks: readonly ReleasedTask[]): Promise<void> {
    if (tasks.length === 0) return;
    const { log } = this.#options;
    log.warn({ tasks: tasks.length, url: tasks[0]?.task.url.slice(0, SHOWN_LENGTH) }, TOO_LARGE);
    await Promise.all(tasks.map((task) => this.#settle(task, { kind: 'defer', inMs: TOO_LARGE_WAITS_MS })));
  }

  /** Settles tasks as failed, with one call per run and reason. */
  #fail(tasks: readonly ReleasedTask[]): Promise<void>[] {
    return [...byRun(tasks)].flatMap(([run, ofRun]) =>
      Array.from(
        Map.groupBy(ofRun, ({ verdict }) => verdict as FailedReason),
        ([reason, failed]) => this.#options.frontier.fail(run, failed.map(nameOf), reason),
      ),
    );
  }

  /** Reports failed tasks to `onFailure`. Returns those it recorded; the others are put back. */
  async #told(ended: readonly ReleasedTask[]): Promise<ReleasedTask[]> {
    const { onFailure, log } = this.#options;
    const told = await Promise.allSettled(ended.map((task) => onFailure(task, task.verdict as FailedReason)));
    const failure = told.find((result) => result.status === 'rejected');
    if (failure !== undefined)
      log.warn({ error: messageOf(failure.reason) }, 'a failure could not be recorded: task put back');
    const isTold = (_: ReleasedTask, index: number): boolean => told[index]?.status === 'fulfilled';
    await Promise.all(
      ended.filter((task, index) => !isTold(task, index)).map((task) => this.#settle(task, { kind: 'defer' })),
    );
    return ended.filter(isTold);
  }

  async #settle(released: ReleasedTask, outcome: Outcome): Promise<void> {
    await this.#options.frontier.settle(released.task.run, nameOf(released), { outcome });
  }

  async #readWindow(): Promise<{ readonly size: number; readonly unpaced: boolean }> {
    const { clock, roster, window } = this.#options;
    if (clock.monotonic() > this.#window.until) {
      const { workers, slots } = await roster.capacity();
      const size = window ?? Math.max(DEFAULT_WINDOW, WINDOW_PER_SLOT * slots);
      const hasChanged = slots !== this.#window.slots;
      const knownMs = hasChanged ? SLOTS_KNOWN_MS : Math.min(SLOTS_KNOWN_MOST_MS, 2 * this.#window.knownMs);
      const until = clock.monotonic() + knownMs;
      this.#window = { until, knownMs, slots, size, unpaced: workers === 0, workers };
    }
    return this.#window;
  }

  /** While another process looks on behalf of all: waits until its lease ends, plus a random turn. That process finds whatever nudges announced. */
  async #standBy(leaseMs: number): Promise<void> {
    const { clock, random = Math.random } = this.#options;
    const turnMs = random() * Math.min(LATEST_TURN_MS, this.#window.workers * TURN_MS);
    await clock.sleep(leaseMs + turnMs, this.#stopping.signal);
    this.#nudged = false;
  }

  /** Waits until the next look. A nudge shortens the wait, but not below {@link LOOK_AT_MOST_EVERY_MS}. */
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

function byRun(tasks: readonly ReleasedTask[]): ReadonlyMap<string, readonly ReleasedTask[]> {
  return Map.groupBy(tasks, ({ task }) => task.run);
}

/** Makes the message for a task under one release. `now` is by the frontier's clock, as the deadline is. */
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

/** Is the task certainly not in a queue? Then it can be put back at once. */
function isUndelivered(outcome: PublishOutcome | undefined): boolean {
  return outcome === 'returned' || outcome === 'refused';
}
