import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { type FetchOutcome, type Observer, STAGES, type Stage, type StageObserver } from '../ports/observer.ts';
import type { WorkerBound } from '../ports/roster.ts';
import { SECOND_MS } from '../task/durations.ts';
import { FAILED_REASONS, type Outcome, SKIPPED_REASONS } from '../task/task/outcome.ts';
import { LeanHistogram } from './lean-histogram.ts';

/** The values read from a worker each time its metrics are requested. */
export interface WorkerGauges {
  readonly slots: number;
  readonly inHand: number;
  readonly bound: WorkerBound;
}

/** Bucket bounds in seconds, from about the quickest call of a store to a minute for a page. */
const STORE_SECONDS = [0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5];
const FETCH_SECONDS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
const GATE_SECONDS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1];
const HTTP_SECONDS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 30];

/**
 * The metrics of one process, for Prometheus. Those that only a worker has exist once {@link PrometheusObserver.watchWorker} has
 * been called.
 */
export class PrometheusObserver implements Observer, StageObserver {
  readonly registry = new Registry();
  readonly #settled: Counter<'outcome' | 'reason'>;
  readonly #fetched: LeanHistogram;
  readonly #received: Counter;
  readonly #gateWaited: LeanHistogram;
  readonly #released: Counter;
  readonly #lapsed: Counter;
  readonly #storeCalled: LeanHistogram;
  readonly #storeUp: Gauge<'store'>;
  readonly #written: Counter<'sink'>;
  readonly #requests: Histogram<'route' | 'method' | 'code'>;
  readonly #webhooks: Counter<'result'>;
  readonly #inStage: Record<Stage, number> = { admit: 0, gate: 0, fetch: 0, offer: 0, record: 0, settle: 0 };

  constructor({ version }: { readonly version: string }) {
    const registers = [this.registry];
    collectDefaultMetrics({ register: this.registry });
    for (const name of MISNAMED) this.registry.removeSingleMetric(name);
    const build = { name: 'trawl_build_info', help: 'Always 1, labelled with the version.', labelNames: ['version'] };
    new Gauge({ ...build, registers, aggregator: 'first' }).set({ version }, 1);
    this.#settled = new Counter({
      name: 'trawl_tasks_settled_total',
      help: 'Deliveries by outcome, and by its reason if it has one.',
      labelNames: ['outcome', 'reason'],
      registers,
    });
    this.#fetched = new LeanHistogram({
      name: 'trawl_fetch_duration_seconds',
      help: 'Duration of requests: of pages to the last byte, of robots.txt and sitemaps until the answer begins.',
      labels: ['outcome'],
      buckets: FETCH_SECONDS,
      registry: this.registry,
    });
    this.#received = new Counter({
      name: 'trawl_received_bytes_total',
      help: 'Bytes of bodies, after decompression.',
      registers,
    });
    this.#gateWaited = new LeanHistogram({
      name: 'trawl_gate_wait_seconds',
      help: "Time that requests waited for their host's turn, granted or not.",
      buckets: GATE_SECONDS,
      registry: this.registry,
    });
    this.#released = new Counter({ name: 'trawl_releases_total', help: 'Tasks released to the broker.', registers });
    this.#lapsed = new Counter({
      name: 'trawl_leases_lapsed_total',
      help: 'Tasks put back because their lease had lapsed.',
      registers,
    });
    this.#storeCalled = new LeanHistogram({
      name: 'trawl_store_call_duration_seconds',
      help: 'Duration of calls to stores.',
      labels: ['store', 'operation'],
      buckets: STORE_SECONDS,
      registry: this.registry,
    });
    this.#storeUp = new Gauge({
      name: 'trawl_store_up',
      help: '1 while a store can be reached, otherwise 0.',
      labelNames: ['store'],
      registers,
      aggregator: 'min',
    });
    this.#written = new Counter({
      name: 'trawl_records_written_total',
      help: 'Records stored.',
      labelNames: ['sink'],
      registers,
    });
    this.#requests = new Histogram({
      name: 'trawl_http_request_duration_seconds',
      help: 'Duration of requests to the API.',
      labelNames: ['route', 'method', 'code'],
      buckets: HTTP_SECONDS,
      registers,
    });
    this.#webhooks = new Counter({
      name: 'trawl_webhook_deliveries_total',
      help: 'Attempts to deliver a webhook.',
      labelNames: ['result'],
      registers,
    });
    // Start each series at 0: Prometheus would not see the first failure as an increase if it began the series.
    for (const { kind, reasons } of OUTCOMES) for (const reason of reasons) this.settled(kind, reason, 0);
    for (const result of ['delivered', 'failed']) this.#webhooks.inc({ result }, 0);
  }

  /** Adds the gauges of a worker. They are read each time metrics are requested. */
  watchWorker(read: () => WorkerGauges): void {
    const registers = [this.registry];
    const inStage = this.#inStage;
    new Gauge({
      name: 'trawl_tasks_in_hand',
      help: 'Tasks in hand by stage; other: waiting for robots.txt or in the crawler.',
      labelNames: ['stage'],
      registers,
      collect() {
        let other = read().inHand;
        for (const stage of STAGES) {
          this.set({ stage }, inStage[stage]);
          other -= inStage[stage];
        }
        this.set({ stage: 'other' }, Math.max(0, other));
      },
    });
    new Gauge({
      name: 'trawl_slots',
      help: 'Maximum tasks in hand at once.',
      registers,
      collect() {
        this.set(read().slots);
      },
    });
    new Gauge({
      name: 'trawl_bound',
      help: '1 for the limit that keeps a process from working on more at once; summed over several processes.',
      labelNames: ['by'],
      registers,
      collect() {
        const { bound } = read();
        for (const by of BOUNDS) this.set({ by }, by === bound ? 1 : 0);
      },
    });
  }

  /** Adds the gauge of the memory that bodies take. */
  watchBodies(read: () => number): void {
    new Gauge({
      name: 'trawl_body_memory_bytes',
      help: 'Memory of the bodies being read or held.',
      registers: [this.registry],
      collect() {
        this.set(read());
      },
    });
  }

  settled(outcome: Outcome['kind'], reason: string, tasks: number): void {
    this.#settled.inc({ outcome, reason }, tasks);
  }

  fetched(outcome: FetchOutcome, durationMs: number): void {
    this.#fetched.observe(durationMs / SECOND_MS, outcome);
  }

  received(bytes: number): void {
    this.#received.inc(bytes);
  }

  gateWaited(ms: number): void {
    this.#gateWaited.observe(ms / SECOND_MS);
  }

  released(tasks: number): void {
    this.#released.inc(tasks);
  }

  lapsed(tasks: number): void {
    this.#lapsed.inc(tasks);
  }

  recordWritten(sink: string): void {
    this.#written.inc({ sink });
  }

  storeCalled(store: string, operation: string, ms: number): void {
    this.#storeCalled.observe(ms / SECOND_MS, store, operation);
  }

  storeIs(store: string, isUp: boolean): void {
    this.#storeUp.set({ store }, isUp ? 1 : 0);
  }

  entered(stage: Stage): void {
    this.#inStage[stage]++;
  }

  left(stage: Stage): void {
    this.#inStage[stage]--;
  }

  /** Counts a request that the API has answered. `route` is the pattern of its path, never the path itself. */
  served(route: string, method: string, code: number, ms: number): void {
    this.#requests.observe({ route, method, code }, ms / SECOND_MS);
  }

  /** Counts an attempt to deliver a webhook: `delivered` or `failed`. */
  webhookSent(result: 'delivered' | 'failed'): void {
    this.#webhooks.inc({ result });
  }
}

/** Default metrics of prom-client whose names break the rules of Prometheus; each has a well-named twin. */
const MISNAMED = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total'];
const OUTCOMES: readonly { readonly kind: Outcome['kind']; readonly reasons: readonly string[] }[] = [
  { kind: 'done', reasons: [''] },
  { kind: 'defer', reasons: [''] },
  { kind: 'skipped', reasons: SKIPPED_REASONS },
  { kind: 'retry', reasons: FAILED_REASONS },
  { kind: 'failed', reasons: FAILED_REASONS },
];
const BOUNDS = [
  'network',
  'proxies',
  'sink',
  'slots',
  'cpu',
  'memory',
  'files',
  'politeness',
] as const satisfies readonly WorkerBound[];
