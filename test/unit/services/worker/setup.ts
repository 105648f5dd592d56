import { expect, onTestFinished } from 'vitest';
import pageCrawler from '../../../../crawlers/page.ts';
import { Slots } from '../../../../services/worker/concurrency/slots.ts';
import { placeOf } from '../../../../services/worker/delivered.ts';
import { LeaseKeeper } from '../../../../services/worker/lease-keeper.ts';
import { Robots } from '../../../../services/worker/pipeline/hosts/robots.ts';
import { Pipeline, type PipelineOptions } from '../../../../services/worker/pipeline/pipeline.ts';
import { RunDirectory } from '../../../../services/worker/run-directory.ts';
import { SeedIntake } from '../../../../services/worker/seed-intake.ts';
import type { Crawler } from '../../../../shared/crawler/crawler.ts';
import { readDeadLetter } from '../../../../shared/ports/dead-letter.ts';
import type { FetchedFile, FileStore } from '../../../../shared/ports/file-store.ts';
import type { ReleaseName } from '../../../../shared/ports/frontier/frontier.ts';
import type { PageRecord } from '../../../../shared/ports/record.ts';
import type { RunOptions } from '../../../../shared/ports/runs.ts';
import type { Sink } from '../../../../shared/ports/sink.ts';
import type { Delivery, PublishOutcome } from '../../../../shared/ports/transport.ts';
import { writeMessage } from '../../../../shared/task/task/message.ts';
import { DEFAULT_ROUTING } from '../../../../shared/task/task/routing.ts';
import { idOf } from '../../../../shared/task/task/task.ts';
import { allowing } from '../../../support/allowing.ts';
import { FAST_RUN } from '../../../support/builders.ts';
import { openLane } from '../../../support/lane.ts';
import { TestSite } from '../../../support/site.ts';
import { EVERYTHING, LogLines, offerOf, openEmbedded } from '../../../support/stores/embedded.ts';
import { withMethods } from '../../../support/with-methods.ts';

/** A sink that keeps records in memory and fails while `failure` is set. */
export class MemorySink implements Sink {
  readonly records: PageRecord[] = [];
  failure: Error | undefined;

  async start(): Promise<void> {}

  async stop(): Promise<void> {}

  async put(record: PageRecord): Promise<void> {
    if (this.failure !== undefined) throw this.failure;
    this.records.push(record);
  }
}

/** A file store in memory, by path, that fails while `failure` is set. */
export class MemoryFiles implements FileStore {
  readonly stored = new Map<string, Uint8Array>();
  failure: Error | undefined;

  async put({ body, hash, extension }: FetchedFile): Promise<string> {
    if (this.failure !== undefined) throw this.failure;
    const path = extension === undefined ? hash : `${hash}.${extension}`;
    this.stored.set(path, body);
    return path;
  }
}

interface SetupOptions {
  /** Options of the run `r`, which is open. */
  readonly run?: Partial<RunOptions>;
  readonly crawler?: Crawler;
}

/** The parts of a worker on the embedded stores, and a real site to fetch from. */
export async function setup({ run = {}, crawler = pageCrawler }: SetupOptions = {}) {
  const stores = openEmbedded();
  const { clock, frontier, runs, gate, cache, transport, robots: robotsStore } = stores;
  const site = new TestSite();
  await site.start();
  const fetcher = openLane({
    timeoutMs: 5_000,
    userAgent: 'TrawlBot/0 (test)',
    allowedPrivate: allowing('127.0.0.0/8'),
  });
  onTestFinished(async () => {
    await fetcher.stop();
    await site.stop();
  });
  await runs.open('r', { ...FAST_RUN, ...run }, 'p');
  const sink = new MemorySink();
  const log = new LogLines();
  const abort = new AbortController();
  const sinkFailures: string[] = [];
  const leases = new LeaseKeeper(frontier, log);
  const robotsParts: ConstructorParameters<typeof Robots>[0] = {
    store: robotsStore,
    gate,
    fetcher,
    clock,
    hostConcurrency: 0,
    timeoutMs: 5_000,
    random: () => 0.5,
    log,
  };
  const startOf = (_: string, href: string): string => crawler.startOf(href);
  const intakeParts = { frontier, runs, rules: DEFAULT_ROUTING, defaults: FAST_RUN, clock, startOf };
  const parts: PipelineOptions = {
    worker: 'w-1',
    frontier,
    transport,
    gate,
    cache,
    fetcher,
    sink,
    files: new MemoryFiles(),
    runs: new RunDirectory({ runs, crawlerNamed: () => ({ crawler, version: '01234567' }), defaults: FAST_RUN, log }),
    intake: new SeedIntake(intakeParts),
    leases,
    slots: new Slots(4),
    rules: DEFAULT_ROUTING,
    maxBodyBytes: 100_000,
    maxRedirects: 10,
    hostConcurrency: 0,
    stepTimeoutMs: 30_000,
    clock,
    random: () => 0.5,
    log,
    progressOf: (id) => runs.progress(id),
    openRecords: () => Promise.reject(new Error('there are no records to read')),
    signal: abort.signal,
    onSinkFailure: (reason) => void sinkFailures.push(reason),
  };
  return {
    ...stores,
    site,
    sink,
    log,
    abort,
    parts,
    intakeParts,
    sinkFailures,
    robotsStore,
    /** The robots.txt check. The pipelines of these tests have none unless it is passed in. */
    robots: (changed: Partial<typeof robotsParts> = {}) => new Robots({ ...robotsParts, ...changed }),
    /** A pipeline, with some of its parts changed. */
    pipeline: (changed: Partial<PipelineOptions> = {}) => new Pipeline({ ...parts, ...changed }),
    /** Offers paths of the site, or whole URLs. */
    async offer(...paths: string[]): Promise<void> {
      await frontier.offer(
        'r',
        paths.map((path) => offerOf(path.startsWith('/') ? site.url(path) : path)),
      );
    },
    /** Releases what is due, as the deliveries that a broker would hand over. */
    async deliveries(): Promise<Delivery[]> {
      const { tasks } = await frontier.release(EVERYTHING);
      return tasks.map(({ task, release }) => deliveryOf(writeMessage(task), { id: idOf(task), release }));
    },
    /** The dead letters, read. */
    async letters() {
      return (await transport.browse(100)).map(({ body }) => readDeadLetter(body));
    },
  };
}

type Setup = Awaited<ReturnType<typeof setup>>;

/** Offers one path and releases it. */
export async function deliver({ offer, deliveries }: Setup, path: string): Promise<Delivery> {
  await offer(path);
  const [delivery] = await deliveries();
  if (delivery === undefined) throw new Error(`nothing was released for ${path}`);
  return delivery;
}

/** Expects the run's task to wait again, with no attempt counted and no start beyond the `starts` from before. */
export async function expectPutBack({ frontier, runs, letters }: Setup, starts = 0): Promise<void> {
  expect(await runs.progress('r')).toMatchObject({ waiting: 1, inFlight: 0, done: 0, skipped: 0, failed: 0 });
  expect(await letters()).toEqual([]);
  const { tasks } = await frontier.release(EVERYTHING);
  expect(tasks).toMatchObject([{ state: { attempts: 0, starts } }]);
}

/** A transport that answers every message with `outcome`, and steps the clock by 2 s after each call. */
export function thatAnswers({ transport, clock }: Setup, outcome: PublishOutcome) {
  return withMethods(transport, {
    publish: async (messages) => {
      setImmediate(() => clock.step(2_000));
      return messages.map(() => outcome);
    },
  });
}

/** The release that a delivery names. */
export function releaseOf(delivery: Delivery): ReleaseName {
  const { release } = placeOf(delivery) ?? {};
  if (release === undefined) throw new Error('it names no release');
  return release;
}

/** A message as the broker hands it over. */
export function deliveryOf(
  body: string,
  { id, release }: { readonly id?: string; readonly release?: number } = {},
): Delivery {
  return {
    queue: 'normal',
    id,
    body: new TextEncoder().encode(body),
    headers: release === undefined ? {} : { 'x-release': release },
    redelivered: false,
  };
}

/** Lets the three tries of a login pass. `said` returns the log. */
export async function passLoginTries(said: () => string, { clock }: Pick<Setup, 'clock'>): Promise<void> {
  for (const [tries, ms] of [
    [1, 1_000],
    [2, 5_000],
  ] as const) {
    await expect.poll(() => said().match(/tried again/g)?.length).toBe(tries);
    clock.step(ms);
  }
}
