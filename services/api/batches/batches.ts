import { randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { count, duration } from '../../../shared/control/format.ts';
import type { CrawlMeasures } from '../../../shared/metrics/process-metrics.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import { messageOf } from '../../../shared/runtime/errors.ts';
import type { Service } from '../../../shared/runtime/lifecycle.ts';
import type { Logger } from '../../../shared/runtime/logger.ts';
import type { Settings } from '../../../shared/settings/table.ts';
import { routingRulesOf } from '../../process/routing-rules.ts';
import type { Caller } from '../access/tokens.ts';
import { Problem } from '../http/problem.ts';
import type { ReadRequest } from '../http/read-request.ts';
import type { Link } from '../link.ts';
import type { Producers } from '../producers.ts';
import { type BatchAnswer, batchAnswer, keptLength } from './batch-answer.ts';
import { type BatchInput, type BatchRequest, batchRunOf, batchSchema, readInputs } from './batch-request.ts';
import { FleetBatch, keyTaken, RESULTS_KEPT_MS, recordsOf } from './fleet-batch.ts';
import { LocalBatch } from './local-batch.ts';

interface BatchesOptions {
  readonly settings: Settings;
  readonly link: Link;
  readonly producers: Producers;
  readonly measures: CrawlMeasures;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Batches that this process itself can crawl at once. Each is a small fleet. */
const MOST_LOCAL = 4;
const MOST_AT_WORK = 100;
/** Batches whose answers are remembered here. The store of a fleet has the results of its batches as well. */
const MOST_REMEMBERED = 100;
/** Maximum characters of these answers together, see {@link keptLength}. */
const MOST_ANSWERS_LENGTH = 256 * 1024 * 1024;

/** A batch under way. */
export interface UnderWay {
  readonly run: string;
  /** Resolves once the batch is begun: the store of a fleet then has all its URLs. Rejects if it can't be begun. */
  readonly begun: Promise<void>;
  /** Resolves with the answer once the batch is over: crawled, timed out or cancelled. */
  readonly ended: Promise<BatchAnswer>;
  /** Returns the answer so far. */
  soFar(): Promise<BatchAnswer>;
  /** Ends the batch early: nobody waits for it any more. */
  cancel(): void;
}

interface Known extends UnderWay {
  readonly body: string;
}

/** How a batch was requested. */
interface BatchManner {
  /** The request's `Idempotency-Key`. Repeating the request returns the same batch. */
  readonly key: string | undefined;
  /** The client comes back later for the answer. */
  readonly isAsync: boolean;
}

/** A batch request, read and checked. */
interface ReadBatch {
  /** The request's body as JSON. */
  readonly text: string;
  readonly read: ReadRequest;
  readonly inputs: readonly BatchInput[];
  /** The answer can be asked for after the client has left. */
  readonly isKept: boolean;
}

/** Runs the batches of this process, and finds those of other processes in the store. */
export class Batches implements Service {
  readonly #options: BatchesOptions;
  readonly #atWork = new Map<string, Known>();
  #local = 0;
  readonly #answers: LRUCache<string, { readonly answer: BatchAnswer; readonly body: string }>;
  readonly #stopped = new AbortController();

  constructor(options: BatchesOptions) {
    this.#options = options;
    this.#answers = new LRUCache({
      max: MOST_REMEMBERED,
      maxSize: MOST_ANSWERS_LENGTH,
      ttl: RESULTS_KEPT_MS,
    });
  }

  async start(): Promise<void> {}

  async stop(): Promise<void> {
    this.#stopped.abort();
    await Promise.allSettled([...this.#atWork.values()].map(({ ended }) => ended));
  }

  /**
   * Begins a batch, or returns the one that an earlier request with this key began. Completes a batch that another process left behind.
   *
   * @throws Problem if the key belongs to a different request, no worker is consuming, or too many batches are under way
   */
  async begin(body: BatchRequest, caller: Caller, { key, isAsync }: BatchManner): Promise<UnderWay> {
    const run = batchRunOf(caller.name, key, () => randomBytes(16).toString('hex'));
    const text = JSON.stringify(body);
    const earlier = this.#earlier(run, text, body);
    if (earlier !== undefined) return earlier;
    if (body.distributed) await this.#expectWorkers();
    if (body.distributed && key !== undefined) await this.#expectSame(run, text);
    const { read, inputs } = await this.#read(body, run);
    const isKept = key !== undefined || isAsync;
    // Other batches might have begun while this one was read.
    return this.#earlier(run, text, body) ?? this.#run(body, { text, read, inputs, isKept });
  }

  /** Returns the state of a batch, whether it is under way, answered, or was begun by another API process. */
  async find(run: string): Promise<BatchAnswer | undefined> {
    const known = this.#atWork.get(run) ?? this.#answered(run);
    if (known !== undefined) return await known.soFar();
    return await this.#options.link.withStores(async ({ runs, results }) => {
      const kept = await results?.read(run);
      if (kept === undefined) return undefined;
      const { inputs } = await this.#read(batchSchema.parse(JSON.parse(kept.request)), run);
      const standing = await runs.standing(run);
      const hasEnded = standing === undefined || standing.hasEnded;
      return batchAnswer({ run, inputs, records: recordsOf(kept.records), isDistributed: true, hasEnded });
    });
  }

  /** Tells whether a fleet could crawl a batch now. */
  async availability(): Promise<{ distributed_available: boolean; message: string }> {
    try {
      await this.#expectWorkers();
      return { distributed_available: true, message: 'workers are consuming' };
    } catch (error: unknown) {
      return { distributed_available: false, message: messageOf(error) };
    }
  }

  /**
   * Returns the batch of an earlier request with this key, or nothing if there is none.
   *
   * @throws Problem if that request was a different one, or there is no place for a new batch
   */
  #earlier(run: string, text: string, { distributed }: BatchRequest): UnderWay | undefined {
    const earlier = this.#atWork.get(run) ?? this.#answered(run);
    if (earlier !== undefined) {
      if (earlier.body !== text) throw keyTaken();
      return earlier;
    }
    if (this.#atWork.size >= MOST_AT_WORK || (!distributed && this.#local >= MOST_LOCAL))
      throw new Problem('too_many_requests', 'too many batches are being crawled', { retryAfterMs: 5_000 });
    return undefined;
  }

  /** @throws Problem if another API process began a different batch with this key */
  async #expectSame(run: string, text: string): Promise<void> {
    const kept = await this.#options.link.withStores(async ({ results }) => await results?.read(run));
    if (kept !== undefined && kept.request !== text) throw keyTaken();
  }

  async #expectWorkers(): Promise<void> {
    const { link } = this.#options;
    const workers = link.isLocal ? [] : await link.withStores(({ roster }) => roster.workers());
    if (workers.some(({ state }) => state === 'consuming')) return;
    const why = link.isLocal
      ? 'this API has no fleet, and crawls by itself: leave out distributed'
      : 'no worker is consuming';
    throw new Problem('unavailable', why, { retryAfterMs: 10_000 });
  }

  async #read(body: BatchRequest, run: string): Promise<{ read: ReadRequest; inputs: BatchInput[] }> {
    const { crawler, ...options } = body.options;
    const asked = { run, crawler, seeds: [], options: { content: 'text', ...options } };
    const read = await this.#options.producers.read(asked, 'run');
    const rules = await routingRulesOf(read.settings);
    const { urlKey } = read.runOptions;
    const deadlineMs = Math.ceil(body.timeout * 1_000);
    const inputs = readInputs(body.urls, run, { rules, urlKey, startOf: read.startOf, deadlineMs });
    return { read, inputs };
  }

  #run(body: BatchRequest, { text, read, inputs, isKept }: ReadBatch): UnderWay {
    const { link, measures, clock, log } = this.#options;
    const { run } = read;
    const isDistributed = body.distributed;
    const over = new AbortController();
    // If the answer can be asked for later, the fleet keeps crawling the batch after this process ends.
    const [signal, left] = isKept
      ? [over.signal, this.#stopped.signal]
      : [AbortSignal.any([over.signal, this.#stopped.signal]), new AbortController().signal];
    const batch = isDistributed
      ? new FleetBatch({ read, inputs, request: text, link, clock })
      : new LocalBatch({ read, inputs, measures, log, clock });
    const warning = warningOf(inputs, read.runOptions.intervalMs, body.timeout);
    const answer = (hasEnded: boolean): BatchAnswer =>
      batchAnswer({ run, inputs, records: batch.records, isDistributed, hasEnded, warning });
    if (!isDistributed) this.#local++;
    const timer = setTimeout(() => over.abort(), body.timeout * 1_000);
    const begun = Promise.withResolvers<void>();
    const ended = batch
      .run(signal, left, begun.resolve)
      .then(() => {
        const told = answer(true);
        this.#answers.set(run, { answer: told, body: text }, { size: keptLength(text, batch.records) });
        return told;
      })
      .finally(() => {
        clearTimeout(timer);
        if (!isDistributed) this.#local--;
        this.#atWork.delete(run);
      });
    ended.catch((error: unknown) => log.warn({ run, error: messageOf(error) }, 'a batch failed:'));
    // Nobody waits for this one if the client waits for the answer.
    begun.promise.catch(() => {});
    ended.then(() => begun.resolve(), begun.reject);
    const known: Known = {
      run,
      begun: begun.promise,
      body: text,
      ended,
      soFar: async () => {
        if (batch instanceof FleetBatch) await batch.look();
        return answer(false);
      },
      cancel: () => over.abort(),
    };
    this.#atWork.set(run, known);
    return known;
  }

  #answered(run: string): Known | undefined {
    const kept = this.#answers.get(run);
    if (kept === undefined) return undefined;
    const ended = Promise.resolve(kept.answer);
    return { run, body: kept.body, begun: Promise.resolve(), ended, soFar: () => ended, cancel: () => {} };
  }
}

/** Returns a warning if a host's pace leaves too little time for all of its URLs. */
function warningOf(inputs: readonly BatchInput[], intervalMs: number, timeoutSeconds: number): string | undefined {
  const tasks = new Map(inputs.flatMap((each) => ('offer' in each ? [[each.task, each.offer.host]] : [])));
  const perHost = new Map<string, number>();
  for (const host of tasks.values()) perHost.set(host, (perHost.get(host) ?? 0) + 1);
  const [slowest] = [...perHost].sort(([, a], [, b]) => b - a);
  if (slowest === undefined) return undefined;
  const [host, urls] = slowest;
  const needsMs = (urls - 1) * intervalMs;
  if (needsMs <= timeoutSeconds * 1_000) return undefined;
  return `${count(urls)} URLs of ${host} take ${duration(needsMs)} at its rate: longer than the time-out`;
}
