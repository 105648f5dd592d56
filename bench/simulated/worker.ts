import { readDelivery } from '../../services/worker/delivered.ts';
import { LeaseKeeper } from '../../services/worker/lease-keeper.ts';
import type { Stores } from '../../shared/backends/backends.ts';
import { SlotWait } from '../../shared/loops/slot-wait.ts';
import { nameOf } from '../../shared/ports/frontier/frontier.ts';
import type { Delivery, Handling } from '../../shared/ports/transport.ts';
import { systemClock } from '../../shared/runtime/clock.ts';
import { silentLog } from '../../shared/runtime/logger.ts';

/** Reported response time of each request: shorter than any interval of the bench, so that no interval is stretched. */
const ANSWER_MS = 5;
const HOST_CONCURRENCY = 2;
const PAGE_BYTES = 10_000;

/** A worker's report of one page of a watched run. */
export interface PageTold {
  readonly kind: 'page';
  readonly run: string;
  readonly at: number;
}

/** Prefix of the names of watched runs, whose pages are reported. */
export const WATCHED = 'small-';

/** Makes a worker's calls to the frontier and the gate for each page, except for robots.txt and the cache, and fetches nothing. */
export class SimulatedWorker {
  readonly id: string;
  readonly #stores: Pick<Stores, 'frontier' | 'gate' | 'runs'>;
  readonly #slots: SlotWait;
  readonly #leases: LeaseKeeper;
  readonly #intervals = new Map<string, Promise<number>>();
  readonly #signal = new AbortController().signal;

  constructor(id: string, stores: Stores) {
    this.id = id;
    this.#stores = stores;
    this.#slots = new SlotWait({ gate: stores.gate, clock: systemClock });
    this.#leases = new LeaseKeeper(stores.frontier, silentLog);
    this.#leases.start();
  }

  async handle(delivery: Delivery): Promise<Handling> {
    const { frontier, gate } = this.#stores;
    const message = readDelivery(delivery);
    const release = delivery.headers['x-release'];
    if (message.kind !== 'task' || message.task.run === undefined || release === undefined) throw new Error('no task');
    const { run, host, mark } = { ...message.task, run: message.task.run };
    const name = nameOf({ release, task: { mark } });
    const [admission, intervalMs] = await Promise.all([frontier.admit(run, name, this.id), this.#intervalOf(run)]);
    if (admission.verdict !== 'work') return 'ack';
    const holder = `${run}:${release}`;
    const limit = { intervalMs, concurrency: HOST_CONCURRENCY };
    this.#leases.keep(run, name);
    const slot = await this.#slots.tryAcquire({
      ...{ host, holder, limit, signal: this.#signal },
      pausedMs: admission.pausedMs,
    });
    if (slot.go) {
      const done = { outcome: { kind: 'done' }, hostAnswered: true, bytes: PAGE_BYTES } as const;
      await Promise.all([gate.leave(host, limit, holder, { durationMs: ANSWER_MS }), frontier.settle(run, name, done)]);
      if (run.startsWith(WATCHED)) process.send?.({ kind: 'page', run, at: Date.now() } satisfies PageTold);
    } else {
      await frontier.settle(run, name, { outcome: { kind: 'defer' }, hostFreeInMs: slot.inMs });
    }
    this.#leases.drop(run, name);
    return 'ack';
  }

  #intervalOf(run: string): Promise<number> {
    let interval = this.#intervals.get(run);
    if (interval === undefined) {
      interval = this.#stores.runs.progress(run).then((progress) => progress?.options.intervalMs ?? 0);
      this.#intervals.set(run, interval);
    }
    return interval;
  }
}
