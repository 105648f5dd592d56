import type { ChildProcess } from 'node:child_process';
import { FleetReader, type FleetSources, type ReadLink } from '../control/fleet-reading.ts';
import type { BodyBudget, Fetcher } from '../ports/fetcher.ts';
import type { Frontier } from '../ports/frontier/frontier.ts';
import type { HandOvers } from '../ports/frontier/queued-leases.ts';
import type { HostGate } from '../ports/host-gate.ts';
import type { Sink } from '../ports/sink.ts';
import type { Transport } from '../ports/transport.ts';
import type { Service } from '../runtime/lifecycle.ts';
import type { Logger } from '../runtime/logger.ts';
import { VERSION } from '../runtime/version.ts';
import type { Settings } from '../settings/table.ts';
import type { PortObserver } from './measured-ports.ts';
import type { PrometheusObserver, WorkerGauges } from './prometheus-observer.ts';

/** The ports of a process that is connected to a fleet. */
interface Connected {
  readonly stores: { readonly frontier: Frontier & HandOvers; readonly gate: HostGate };
  readonly transport: Transport;
}

/** The services whose connections can be lost, and their names in metrics. */
const SERVICES = { Redis: 'redis', RabbitMQ: 'rabbitmq' } as const;
/** Name in metrics of the store of a crawl in one process. */
const LOCAL_STORE = 'sqlite';

/**
 * The metrics of one process. The process passes its ports through here and uses the measured ports that it gets back. Without
 * `METRICS_PORT` it gets the same ports back, so that metrics nobody reads cost nothing.
 */
export interface ProcessMetrics extends Service {
  /** Undefined while metrics are off. */
  readonly observer: PortObserver | undefined;
  /** Returns measured ports, and notes that both services were reached. */
  fleet<C extends Connected>(connected: C): C;
  fetcher<F extends Fetcher & BodyBudget>(fetcher: F): F;
  sink(sink: Sink, name: string): Sink;
  /** Notes that a service can be reached again, or no longer. */
  noteService(name: keyof typeof SERVICES, isUp: boolean): void;
  watchWorker(read: () => WorkerGauges): void;
}

const NO_METRICS: ProcessMetrics = {
  observer: undefined,
  fleet: (connected) => connected,
  fetcher: (fetcher) => fetcher,
  sink: (sink) => sink,
  noteService: () => {},
  watchWorker: () => {},
  start: async () => {},
  stop: async () => {},
};

interface ServingOptions {
  readonly settings: Pick<Settings, 'metricsPort' | 'metricsHost'>;
  readonly log: Logger;
}

interface ProcessMetricsOptions extends ServingOptions {
  /** This is one of several processes, whose parent serves the sum of their metrics. */
  readonly isOneOfSeveral?: boolean;
  /** See {@link MetricsServerOptions.isBrief}. */
  readonly isBrief?: boolean;
}

/** Opens the metrics of this process. They are served once the result is started. */
export async function openProcessMetrics(options: ProcessMetricsOptions): Promise<ProcessMetrics> {
  const { settings, log, isOneOfSeveral = false, isBrief } = options;
  const { metricsHost: host, metricsPort: port } = settings;
  if (port === undefined) return NO_METRICS;
  const [{ observer, metrics }, { MetricsServer }, { AnsweringProcess }] = await Promise.all([
    observed(),
    import('./metrics-server.ts'),
    import('./summed-metrics.ts'),
  ]);
  const { registry } = observer;
  // The services count as down until they are reached.
  for (const name of Object.values(SERVICES)) observer.storeIs(name, false);
  const service = isOneOfSeveral
    ? new AnsweringProcess(registry)
    : new MetricsServer({ host, port, log, isBrief, read: () => registry.metrics() });
  return { ...metrics, start: () => service.start(), stop: () => service.stop() };
}

/** Measures the ports of a crawl that runs inside a process, so that the process' metrics include it. */
export interface CrawlMeasures {
  readonly observer: PortObserver;
  stores<S extends Connected['stores']>(stores: S): S;
  fetcher<F extends Fetcher>(fetcher: F): F;
  sink(sink: Sink, name: string): Sink;
}

/** The metrics of the one process that also exports those of the fleet. */
export interface ControlMetrics extends ProcessMetrics {
  /** Measures the crawls that the API runs itself, any number of them. */
  readonly crawls: CrawlMeasures;
  /** Returns the metrics of both in the Prometheus text format, for `/metrics`. Never rejects. */
  text(): Promise<string>;
  /** See {@link FleetReader.workersWanted}. */
  workersWanted(): Promise<number | undefined>;
  /** Counts an answered request. `route` is the pattern of its path, never the path itself. */
  served(route: string, method: string, code: number, ms: number): void;
  webhookSent(result: 'delivered' | 'failed'): void;
}

/** The fleet or local store that the API controls. */
interface ControlLink extends ReadLink {
  /** It controls crawls on one machine, without services. */
  readonly isLocal: boolean;
  /** A text for each service that is unreachable, beginning with the service's name. */
  readonly away: readonly string[];
}

/** Opens the metrics of the API, which serves {@link ControlMetrics.text} at `/metrics`. Once started, they are also on `METRICS_PORT`, if set. */
export async function openControlMetrics(
  { settings, log }: ServingOptions,
  { link, ...sources }: FleetSources & { readonly link: ControlLink },
): Promise<ControlMetrics> {
  const { metricsHost: host, metricsPort: port } = settings;
  const [{ observer, metrics, crawls }, { FleetMetrics }, { MetricsServer }] = await Promise.all([
    observed(),
    import('./fleet-metrics.ts'),
    import('./metrics-server.ts'),
  ]);
  const reader = new FleetReader({ link, ...sources });
  const fleet = new FleetMetrics(reader);
  const read = async (): Promise<string> => {
    const { isLocal, away } = link;
    for (const [service, name] of isLocal ? [] : Object.entries(SERVICES))
      observer.storeIs(name, !away.some((text) => text.startsWith(service)));
    return `${await observer.registry.metrics()}${await fleet.text()}`;
  };
  const server = port === undefined ? undefined : new MetricsServer({ host, port, log, read });
  return {
    ...metrics,
    crawls,
    start: async () => server?.start(),
    stop: async () => server?.stop(),
    text: read,
    workersWanted: () => reader.workersWanted(),
    served: (...request) => observer.served(...request),
    webhookSent: (result) => observer.webhookSent(result),
  };
}

/** Makes an observer of this process, and the functions that wrap ports so that they report to it. */
async function observed(): Promise<{
  readonly observer: PrometheusObserver;
  readonly metrics: Omit<ProcessMetrics, keyof Service>;
  readonly crawls: CrawlMeasures;
}> {
  const [{ PrometheusObserver }, ports] = await Promise.all([
    import('./prometheus-observer.ts'),
    import('./measured-ports.ts'),
  ]);
  const observer = new PrometheusObserver({ version: VERSION });
  const metrics: Omit<ProcessMetrics, keyof Service> = {
    observer,
    fleet: (connected) => {
      const { stores, transport } = connected;
      for (const name of Object.values(SERVICES)) observer.storeIs(name, true);
      return {
        ...connected,
        stores: {
          ...stores,
          frontier: ports.measuredFrontier(stores.frontier, SERVICES.Redis, observer),
          gate: ports.measuredGate(stores.gate, SERVICES.Redis, observer),
        },
        transport: ports.measuredTransport(transport, SERVICES.RabbitMQ, observer),
      };
    },
    fetcher: (fetcher) => {
      observer.watchBodies(() => fetcher.bodyBytes);
      return ports.measuredFetcher(fetcher, observer);
    },
    sink: (sink, name) => ports.measuredSink(sink, name, observer),
    noteService: (name, isUp) => observer.storeIs(SERVICES[name], isUp),
    watchWorker: (read) => observer.watchWorker(read),
  };
  const crawls: CrawlMeasures = {
    observer,
    stores: (stores) => ({
      ...stores,
      frontier: ports.measuredFrontier(stores.frontier, LOCAL_STORE, observer),
      gate: ports.measuredGate(stores.gate, LOCAL_STORE, observer),
    }),
    fetcher: (fetcher) => ports.measuredFetcher(fetcher, observer),
    sink: metrics.sink,
  };
  return { observer, metrics, crawls };
}

/** Serves the metrics of several processes as those of one. */
export interface MetricsSum {
  /** Includes a process until it ends. */
  readonly add: (child: ChildProcess) => void;
  stop(): Promise<void>;
}

/**
 * Serves the summed metrics of the processes that this one starts, each with {@link ProcessMetricsOptions.isOneOfSeveral}. Returns
 * nothing if metrics are off.
 */
export async function serveSum({ settings, log }: ServingOptions): Promise<MetricsSum | undefined> {
  const { metricsHost: host, metricsPort: port } = settings;
  if (port === undefined) return undefined;
  const [{ SummedMetrics }, { MetricsServer }] = await Promise.all([
    import('./summed-metrics.ts'),
    import('./metrics-server.ts'),
  ]);
  const summed = new SummedMetrics();
  const server = new MetricsServer({ host, port, log, read: () => summed.read() });
  await server.start();
  return { add: (child) => summed.add(child), stop: () => server.stop() };
}
