import { hostname } from 'node:os';
import type { HandOvers } from '../../shared/ports/frontier/queued-leases.ts';
import { BEAT_EVERY_MS, PROTOCOL, type Roster, type WorkerBeat } from '../../shared/ports/roster.ts';
import type { AckMode, Consumer, Delivery, Handling, Transport } from '../../shared/ports/transport.ts';
import { messageOf } from '../../shared/runtime/errors.ts';
import type { Service } from '../../shared/runtime/lifecycle.ts';
import { QUEUES } from '../../shared/task/task/routing.ts';
import { filesFor } from './concurrency/concurrency.ts';
import { PendingRecords } from './concurrency/pending-records.ts';
import { type Meter, Sizing } from './concurrency/sizing.ts';
import type { Slots } from './concurrency/slots.ts';
import { readDelivery } from './delivered.ts';
import { LeaseKeeper } from './lease-keeper.ts';
import { Pipeline, type PipelineOptions } from './pipeline/pipeline.ts';
import { QueueTail } from './queue-tail.ts';
import { TasksInHand } from './tasks-in-hand.ts';
import { START_WITHIN_MS, Unacked } from './unacked.ts';
import { WorkPace } from './work-pace.ts';

type FromWorker = 'leases' | 'slots' | 'signal' | 'onSettled' | 'onSinkFailure';

export interface WorkerOptions extends Omit<PipelineOptions, FromWorker> {
  readonly transport: Transport;
  readonly roster: Roster;
  readonly version: string;
  /** Versions of its crawlers, by name. */
  readonly crawlers: Readonly<Record<string, string>>;
  /** See {@link WorkerBeat.lacking}. */
  readonly lacking?: WorkerBeat['lacking'];
  /** Number of pages worked on at once. */
  readonly concurrency: number | 'auto';
  /** See {@link Sizing}. */
  readonly meter?: Meter;
  /** Time limit of one request. */
  readonly fetchTimeoutMs: number;
  /** How deliveries of the priority queue are acknowledged. Default: `manual`. */
  readonly priorityAck?: AckMode;
  readonly frontier: PipelineOptions['frontier'] & HandOvers;
  /**
   * Called when the worker starts, with a function that returns the number of deliveries in hand. The returned function is called when the
   * worker has stopped.
   */
  readonly onWorking?: (inHand: () => number) => () => void;
}

/** Prefetch as a multiple of the slots: a quarter more, so that a slot that becomes free has work at once. */
const PREFETCH_RATIO = 1.25;
/** Time for which a delivery that can't be processed keeps its slot before it is returned. */
const BEFORE_RETURN_MS = 1_000;
/** Time after a failure until the sink is tried again. */
const AFTER_SINK_FAILURE_MS = 10_000;

/**
 * Turns deliveries into outcomes, in one process.
 *
 * | state          | takes deliveries | becomes                                             |
 * |----------------|------------------|-----------------------------------------------------|
 * | `consuming`    | yes              | `waiting: …` when a store or the sink fails         |
 * | `waiting: …`   | no               | `consuming`, once every cause is gone               |
 * | `stopping`     | no               | nothing: this is the last state                     |
 */
export class Worker implements Service {
  readonly #options: WorkerOptions;
  readonly #sizing: Sizing;
  readonly #slots: Slots;
  readonly #leases: LeaseKeeper;
  readonly #pipeline: Pipeline;
  readonly #unacked: Unacked;
  readonly #pace: WorkPace;
  readonly #tasks = new TasksInHand();
  readonly #tail: QueueTail;
  readonly #abort = new AbortController();
  readonly #stopping = new AbortController();
  #phase: 'waiting' | 'consuming' | 'stopping' = 'waiting';
  /** All current reasons for taking no deliveries. */
  readonly #troubles = new Set<string>();
  #consumers: readonly Consumer[] = [];
  /** Replaced consumers with a smaller prefetch that still have deliveries in hand. */
  readonly #retiring = new Set<Promise<void>>();
  /** The latest change of state; changes run one at a time. */
  #change: Promise<void> = Promise.resolve();
  #beats: NodeJS.Timeout | undefined;
  #onStopped: (() => void) | undefined;
  #isSinkFailing = false;
  /** Ends the wait after a sink failure. */
  #sinkRest: AbortController | undefined;

  constructor(options: WorkerOptions) {
    this.#options = options;
    const records = new PendingRecords();
    this.#sizing = new Sizing({
      wanted: options.concurrency,
      meter: options.meter,
      fetcher: options.fetcher,
      records,
      onDoubled: () => void this.#subscribeAnew(),
    });
    this.#slots = this.#sizing.slots;
    this.#leases = new LeaseKeeper(options.frontier, options.log);
    this.#unacked = new Unacked({ ...options, signal: this.#abort.signal });
    const places = prefetchOf(this.#slots.total) - this.#slots.total;
    this.#tail = new QueueTail({ ...options, signal: this.#stopping.signal, places });
    this.#pace = new WorkPace({ stuckAfterMs: options.stepTimeoutMs + options.fetchTimeoutMs });
    this.#pipeline = new Pipeline({
      ...options,
      sink: records.countedBy(options.sink, () => this.#onStored()),
      leases: this.#leases,
      slots: this.#slots,
      signal: this.#abort.signal,
      onSettled: (outcome) => this.#pace.settled(outcome),
      onSinkFailure: (reason) => this.#onSinkFailure(reason),
    });
  }

  /** Number of deliveries in hand now. */
  get inHand(): number {
    return this.#slots.inHand;
  }

  /** Number of pages it can work on at once; with `auto` this grows. */
  get slots(): number {
    return this.#slots.total;
  }

  /** The limit that keeps it from working on more pages at once. */
  get bound(): WorkerBeat['bound'] {
    const { isNetworkAway, isWithoutProxy } = this.#options.fetcher;
    if (isWithoutProxy) return 'proxies';
    return isNetworkAway ? 'network' : this.#sizing.bound;
  }

  get state(): WorkerBeat['state'] {
    if (this.#phase !== 'waiting') return this.#phase;
    return `waiting: ${[...this.#troubles].join(', ') || 'to begin'}`;
  }

  async start(): Promise<void> {
    const { log, concurrency } = this.#options;
    if (typeof concurrency === 'number' && this.slots < concurrency) {
      const problem = `${concurrency} pages at once need more open files than this process may have: try ulimit -n ${filesFor(concurrency)}`;
      log.warn({ slots: this.slots, error: problem }, 'WORKER_CONCURRENCY is lowered:');
    }
    this.#leases.start();
    this.#sizing.start();
    this.#onStopped = this.#options.onWorking?.(() => this.inHand);
    await this.#beat();
    this.#beats = setInterval(() => void this.#beat(), BEAT_EVERY_MS).unref();
    await this.#queue(() => this.#consume());
  }

  /** Stops taking deliveries: those not begun are returned, those in progress are finished. Its state shows `why` until {@link resume}. */
  suspend(why: string): Promise<void> {
    this.#troubles.add(why);
    return this.#queue(async () => {
      if (this.#phase !== 'consuming' || !this.#troubles.has(why)) return;
      this.#options.log.warn({ why }, 'not consuming');
      await this.#stopConsuming('waiting');
      void this.#beat();
    });
  }

  /** Ends a {@link suspend} with the same `why`. The worker takes deliveries again unless another reason remains. */
  resume(why: string): Promise<void> {
    this.#troubles.delete(why);
    return this.#queue(() => this.#consume());
  }

  /** Stops taking deliveries and finishes those in progress. */
  async stop(): Promise<void> {
    this.#sinkRest?.abort();
    this.#stopping.abort();
    await this.#queue(() => this.#stopConsuming('stopping'));
    clearInterval(this.#beats);
    this.#leases.stop();
    this.#sizing.stop();
    this.#onStopped?.();
    await this.#options.roster.leave(this.#options.worker).catch(() => {});
  }

  /** Aborts the work in progress and puts its tasks back, which costs them no attempt. For a `stop` that takes too long. */
  abort(): void {
    this.#abort.abort();
  }

  async #consume(): Promise<void> {
    if (this.#phase !== 'waiting' || this.#troubles.size > 0 || this.#abort.signal.aborted) return;
    this.#phase = 'consuming';
    this.#slots.open();
    this.#consumers = await this.#subscribe();
    await this.#beat();
  }

  async #subscribe(): Promise<readonly Consumer[]> {
    const { transport, priorityAck } = this.#options;
    const prefetch = prefetchOf(this.#slots.total);
    return await Promise.all(
      QUEUES.map((queue) =>
        queue === 'priority' && priorityAck === 'auto'
          ? transport.consume(queue, (delivery) => this.#takeUnacked(delivery), { prefetch, ack: 'auto' })
          : transport.consume(queue, (delivery) => this.#take(delivery), { prefetch }),
      ),
    );
  }

  /** Replaces the consumers, since a consumer's prefetch can't be changed. The old ones finish their deliveries. */
  #subscribeAnew(): Promise<void> {
    return this.#queue(async () => {
      if (this.#phase !== 'consuming') return;
      const before = this.#consumers;
      this.#consumers = await this.#subscribe();
      for (const consumer of before) this.#retire(consumer);
      // The release window follows the slots that workers report.
      await this.#beat();
    });
  }

  #retire(consumer: Consumer): void {
    const gone = consumer.stop().then(() => void this.#retiring.delete(gone));
    this.#retiring.add(gone);
  }

  async #stopConsuming(phase: 'waiting' | 'stopping'): Promise<void> {
    this.#phase = phase;
    this.#slots.close();
    const consumers = this.#consumers;
    this.#consumers = [];
    await Promise.all([...consumers.map((consumer) => consumer.stop()), ...this.#retiring]);
  }

  /** Handles a delivery that the broker has already dropped: if it isn't finished here, its task must be put back. */
  async #takeUnacked(delivery: Delivery): Promise<Handling> {
    const entered = new AbortController();
    this.#unacked.arrived(delivery);
    const handling = await this.#take(delivery, this.#options.clock.sleep(START_WITHIN_MS, entered.signal), () =>
      entered.abort(),
    );
    if (handling === 'return') await this.#unacked.putBack(delivery);
    return 'ack';
  }

  async #take(delivery: Delivery, timeout?: Promise<void>, onEntered?: () => void): Promise<Handling> {
    // Foreign messages take no slot: in large numbers they would keep every page from being fetched.
    const needsSlot = readDelivery(delivery).kind === 'task';
    if (needsSlot) this.#pace.took(this.#slots.inHand);
    const mayBegin = !needsSlot || (await this.#slots.enter(delivery.queue, timeout));
    onEntered?.();
    if (!mayBegin) return 'return';
    let handling: Handling | 'behind';
    if (needsSlot) this.#tasks.begin(delivery);
    try {
      handling = await this.#handle(delivery);
    } finally {
      if (needsSlot) this.#slots.leave(delivery.queue);
      this.#tasks.end(delivery);
    }
    return handling === 'behind' ? await this.#tail.put(delivery) : handling;
  }

  async #handle(delivery: Delivery): Promise<Handling | 'behind'> {
    try {
      const handling = await this.#pipeline.handle(delivery);
      if (handling === 'return') await this.#rest();
      return handling;
    } catch (error: unknown) {
      this.#options.log.warn({ error: messageOf(error) }, 'a delivery could not be processed: it is put back');
      await this.#rest();
      return 'return';
    }
  }

  /** Pauses before a delivery is returned: it comes back at once, so without the pause it would loop at full speed. */
  async #rest(): Promise<void> {
    await this.#options.clock.sleep(BEFORE_RETURN_MS, this.#stopping.signal);
  }

  #onSinkFailure(reason: string): void {
    const { clock, log } = this.#options;
    if (this.#sinkRest !== undefined || this.#phase === 'stopping') return;
    this.#isSinkFailing = true;
    log.error({ error: reason }, "records can't be stored: not consuming");
    const why = `records can't be stored: ${reason}`;
    const rest = new AbortController();
    this.#sinkRest = rest;
    void this.suspend(why);
    void clock.sleep(AFTER_SINK_FAILURE_MS, rest.signal).then(() => {
      this.#sinkRest = undefined;
      if (!rest.signal.aborted) void this.resume(why);
    });
  }

  #onStored(): void {
    if (!this.#isSinkFailing) return;
    this.#isSinkFailing = false;
    this.#options.log.info({}, 'records can be stored again');
  }

  /** Runs changes one after another; a failed change doesn't block the next. */
  #queue(change: () => Promise<void>): Promise<void> {
    const done = this.#change.then(change);
    this.#change = done.catch(() => {});
    return done;
  }

  async #beat(): Promise<void> {
    const { roster, transport, worker: id, version, crawlers, lacking = {}, log } = this.#options;
    const trouble = transport.trouble();
    const { total: slots, inHand } = this.#slots;
    const { bound } = this;
    const progress = this.#pace.read();
    const consuming = this.#consumers.length > 0 && this.#consumers.every((consumer) => consumer.consuming);
    const state = this.#phase === 'consuming' && !consuming ? 'waiting: broker' : this.state;
    try {
      const lack = Object.keys(lacking).length === 0 ? {} : { lacking };
      const broker = trouble === undefined ? {} : { brokerTrouble: trouble };
      const doing = { slots, inHand, tasks: this.#tasks.read(), bound, state, progress, ...broker, ...lack };
      await roster.beat({ id, host: hostname(), version, protocol: PROTOCOL, crawlers, ...doing });
    } catch (error: unknown) {
      log.warn({ error: messageOf(error) }, 'the beat could not be sent');
    }
  }
}

function prefetchOf(concurrency: number): number {
  return Math.ceil(concurrency * PREFETCH_RATIO);
}
