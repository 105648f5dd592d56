import type { StepResult } from '../../shared/crawler/crawler.ts';
import { Page } from '../../shared/crawler/page.ts';
import { ConfigurationError, messageOf } from '../../shared/errors.ts';
import {
  ALONE_FROM_STARTS,
  type AttemptHistory,
  type Claims,
  type Frontier,
  type TaskState,
} from '../../shared/frontier.ts';
import { MAX_HOLD_MS } from '../../shared/host-gate.ts';
import type { Logger } from '../../shared/logger.ts';
import type { PageRecord } from '../../shared/record.ts';
import { cacheKeyOf, type ResponseCache } from '../../shared/response-cache.ts';
import { RecordRefusedError, type Sink } from '../../shared/sink.ts';
import { markOf } from '../../shared/task/fingerprint.ts';
import type { RoutingRule } from '../../shared/task/routing.ts';
import { nextUrlOf, readMessage, type Task } from '../../shared/task/task.ts';
import { canonicalOf, withoutCredentials } from '../../shared/task/url.ts';
import { urlKeyOf } from '../../shared/task/url-key.ts';
import type { Delivery, Handling, Transport } from '../../shared/transport.ts';
import { bury } from './burial.ts';
import type { FailureLines } from './failure-lines.ts';
import type { LeaseKeeper } from './lease-keeper.ts';
import { LinkOffers } from './link-offers.ts';
import { OddMessages } from './odd-messages.ts';
import { type Known, Requests, type RequestsOptions } from './requests.ts';
import { rememberedOf } from './revisit.ts';
import type { RunDirectory, WorkedRun } from './run-directory.ts';
import type { SeedIntake } from './seed-intake.ts';
import type { Slots } from './slots.ts';
import { type Arrival, doneRecord, type Ending, endedRecord, noteOf, type Visit } from './visit.ts';

export interface PipelineOptions extends RequestsOptions {
  readonly worker: string;
  readonly frontier: Frontier & AttemptHistory & Claims;
  readonly transport: Transport;
  readonly cache: ResponseCache;
  readonly sink: Sink;
  readonly runs: RunDirectory;
  /** Where messages that are no task are told of. */
  readonly failures?: FailureLines;
  readonly intake: SeedIntake;
  readonly leases: LeaseKeeper;
  readonly slots: Slots;
  readonly rules: readonly RoutingRule[];
  readonly log: Logger;
  /** Aborts what is under way when the worker's time is up. */
  readonly signal: AbortSignal;
  /** Links were offered: something may be due. */
  readonly onOffered?: () => void;
  /** Records can't be stored: the worker had better stop consuming. */
  readonly onSinkFailure: (reason: string) => void;
}

const NEW_TASK: TaskState = { attempts: 0, starts: 1, throttles: 0, firstSeen: 0 };
const BODY = new TextDecoder();

/**
 * A delivery's way to its outcome, one named step after another:
 *
 * read → its run → admit, and the cached response → robots → gate → fetch → read the page → offer its links → store the record →
 * bury it, if it failed → settle, and keep the response → ack
 *
 * The order of effects is fixed: whatever dies between two of them, the task is worked again, and counts once.
 */
export class Pipeline {
  readonly #options: PipelineOptions;
  readonly #odd: OddMessages;
  readonly #links: LinkOffers;
  readonly #requests: Requests;

  constructor(options: PipelineOptions) {
    this.#options = options;
    this.#odd = new OddMessages(options);
    this.#links = new LinkOffers(options);
    this.#requests = new Requests(options);
  }

  /** Works on a delivery until it is settled or put back. Rejects when a store fails: the delivery then comes again. */
  async handle(delivery: Delivery): Promise<Handling> {
    const message = readMessage(BODY.decode(delivery.body));
    if (message.kind === 'malformed') return await this.#odd.bury(delivery, message.problem);
    if (message.kind === 'newer')
      return await this.#odd.leaveToOthers(delivery, `a message of the newer version ${message.version}`);
    const { run } = message.task;
    const release = delivery.headers['x-release'];
    if (run === undefined || release === undefined) return await this.#options.intake.take(message.task);
    let worked: WorkedRun;
    try {
      worked = await this.#options.runs.find(run);
    } catch (error: unknown) {
      if (!(error instanceof ConfigurationError)) throw error;
      return await this.#odd.leaveToOthers(delivery, `run ${run}: ${error.message}`);
    }
    return await this.#admit({ ...message.task, run }, release, worked);
  }

  async #admit(task: Task, release: number, run: WorkedRun): Promise<Handling> {
    const { frontier, cache, robots, leases, slots, worker } = this.#options;
    const [admission, cached, rules] = await Promise.all([
      frontier.admit(task.run, release, worker),
      cache.get(cacheKeyOf(task.url)),
      robots?.look(nextUrlOf(task)),
    ]);
    const visit = { task, release, run, worker, known: 'known' in admission ? admission.known : undefined };
    // An incremental run wants to know what the host has now.
    const isFresh = cached !== undefined && !run.options.incremental;
    const known = { rules, arrival: isFresh ? { fetched: cached, fromCache: true } : undefined };
    switch (admission.verdict) {
      case 'gone':
      case 'put_back':
      case 'cancelled':
        return 'ack';
      case 'unknown_run':
        return await this.#visit({ ...visit, release: 0, state: NEW_TASK }, known);
      case 'deadline':
      case 'crash_loop':
        return await this.#end(
          { ...visit, state: admission.state },
          { outcome: { kind: 'failed', reason: admission.verdict } },
        );
      case 'work': {
        const { state, pausedMs } = admission;
        const work = () => this.#visit({ ...visit, state }, { ...known, pausedMs });
        leases.keep(task.run, release);
        try {
          if (state.starts < ALONE_FROM_STARTS) return await work();
          // Behind another suspect it would be counted as killed with that one, though it had not begun.
          if (slots.isReserved) return await this.#putBack({ ...visit, state }, 0);
          return await slots.alone(work);
        } finally {
          leases.drop(task.run, release);
        }
      }
    }
  }

  async #visit(visit: Visit, known: Known): Promise<Handling> {
    const requested = await this.#requests.make(visit, known);
    const { visit: at } = requested;
    if ('laterMs' in requested) return await this.#putBack(at, requested.laterMs);
    const handling =
      'arrival' in requested ? await this.#read(at, requested.arrival) : await this.#end(at, requested.ending);
    await requested.left;
    return handling;
  }

  async #read(visit: Visit, arrival: Arrival): Promise<Handling> {
    const { clock, cache } = this.#options;
    const mark = markOf(urlKeyOf(canonicalOf(arrival.fetched.finalUrl), visit.run.options.urlKey), visit.task.step);
    const claim = await this.#claim(visit, mark);
    if (claim === 'stale') return 'ack';
    if (claim === 'taken') {
      const detail = `redirected to ${arrival.fetched.finalUrl}, which is known`;
      return await this.#end(visit, { outcome: { kind: 'skipped', reason: 'duplicate', detail }, hostAnswered: true });
    }
    const page = new Page(visit.task, arrival.fetched);
    let result: StepResult;
    try {
      result = await visit.run.crawler.step(page);
    } catch (error: unknown) {
      const detail = `the crawler failed: ${messageOf(error)}`;
      return await this.#end(visit, { outcome: { kind: 'failed', reason: 'schema', detail }, hostAnswered: true });
    }
    const offered = await this.#links.offer(visit, page, result);
    if (offered === 'stale') return 'ack';
    if (offered === 'full') return await this.#putBack(visit, 0);
    const record = doneRecord(visit, arrival, page, result, clock.now());
    const stored = await this.#store(record);
    if (stored === 'failed') return await this.#putBack(visit, 0);
    if (stored !== 'stored') {
      const outcome = { kind: 'failed', reason: 'schema', detail: stored.refused } as const;
      return await this.#end(visit, { outcome, hostAnswered: true });
    }
    const { fetched, fromCache, askedAt } = arrival;
    const { contentHash } = record;
    const bytes = fromCache ? 0 : fetched.body.byteLength;
    await Promise.all([
      this.#settle(
        visit,
        {
          outcome: { kind: 'done' },
          hostAnswered: fromCache ? undefined : true,
          answer: fetched,
          askedAt,
          contentHash,
          claimed: mark === visit.task.mark ? undefined : mark,
        },
        bytes,
      ),
      fromCache ? undefined : cache.set(cacheKeyOf(visit.task.url), fetched),
    ]);
    const { status, durationMs } = fetched;
    this.#tell(visit, 'done', {
      status,
      ms: fromCache ? undefined : Math.round(durationMs),
      cached: fromCache || undefined,
    });
    return 'ack';
  }

  /** A page that was found elsewhere stands for both URLs. */
  async #claim({ task, release, run, known }: Visit, mark: string): Promise<'claimed' | 'taken' | 'stale'> {
    if (mark === task.mark || release === 0) return 'claimed';
    // An earlier run has, for this task's page: it is marked ever since.
    if (mark === known?.claimed && run.options.dedup === 'ever') return 'claimed';
    return await this.#options.frontier.claim(task.run, release, mark);
  }

  /** Everything but a page: told in the records, buried if it failed, settled. */
  async #end(visit: Visit, ending: Ending): Promise<Handling> {
    const { clock } = this.#options;
    const { outcome, status } = ending;
    if (outcome.kind === 'defer' && visit.release === 0) return 'return';
    const record = endedRecord(visit, ending, clock.now());
    if (record !== undefined && (await this.#store(record)) === 'failed') return await this.#putBack(visit, 0);
    if (outcome.kind === 'failed' && !(await bury(visit, ending, this.#options))) return await this.#putBack(visit, 0);
    await this.#settle(visit, ending);
    const reason = 'reason' in outcome ? outcome.reason : outcome.kind === 'defer' ? outcome.host?.reason : undefined;
    const detail = 'detail' in outcome && outcome.detail !== `HTTP ${status}` ? outcome.detail : undefined;
    this.#tell(visit, outcome.kind, { reason, status, error: detail });
    return 'ack';
  }

  async #putBack(visit: Visit, hostFreeInMs: number): Promise<Handling> {
    const { frontier, clock, signal } = this.#options;
    if (visit.release === 0) {
      // It comes again at once: only here can it wait.
      await clock.sleep(Math.min(hostFreeInMs, MAX_HOLD_MS), signal);
      return 'return';
    }
    const { moved } = visit;
    const settlement = { outcome: { kind: 'defer' }, hostFreeInMs, ...(moved === undefined ? {} : { moved }) } as const;
    await frontier.settle(visit.task.run, visit.release, settlement);
    return 'ack';
  }

  async #settle(visit: Visit, ending: Ending, bytes = 0): Promise<void> {
    if (visit.release === 0) return;
    const { frontier, clock } = this.#options;
    const { outcome, hostAnswered, hostFault, slowDown } = ending;
    const { moved } = visit;
    const attempt = noteOf(visit, ending, clock.now());
    const page = rememberedOf(visit, ending, clock.now());
    await frontier.settle(visit.task.run, visit.release, {
      outcome,
      bytes,
      ...(moved === undefined ? {} : { moved }),
      ...(hostAnswered === undefined ? {} : { hostAnswered }),
      ...(hostFault === undefined ? {} : { hostFault }),
      ...(slowDown === undefined ? {} : { slowDown }),
      ...(attempt === undefined ? {} : { attempt }),
      ...(page === undefined ? {} : { page }),
    });
  }

  async #store(record: PageRecord): Promise<'stored' | 'failed' | { readonly refused: string }> {
    try {
      await this.#options.sink.put(record);
      return 'stored';
    } catch (error: unknown) {
      if (error instanceof RecordRefusedError) return { refused: error.message };
      this.#options.onSinkFailure(messageOf(error));
      return 'failed';
    }
  }

  #tell({ task }: Visit, outcome: string, fields: object): void {
    this.#options.log.info({ run: task.run, ...fields, url: withoutCredentials(task.url) }, outcome);
  }
}
