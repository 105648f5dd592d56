import type { Clock } from '../../shared/clock.ts';
import { acceptsText, type StepResult } from '../../shared/crawler/crawler.ts';
import { Page } from '../../shared/crawler/page.ts';
import { deadLetterOf, malformedLetterOf } from '../../shared/dead-letter.ts';
import { messageOf } from '../../shared/errors.ts';
import { FetchError, type Fetcher } from '../../shared/fetcher.ts';
import {
  ALONE_FROM_STARTS,
  type AttemptHistory,
  type Frontier,
  MAX_OFFER,
  type TaskState,
} from '../../shared/frontier.ts';
import { type HostGate, type HostLimit, MAX_HOLD_MS } from '../../shared/host-gate.ts';
import type { Logger } from '../../shared/logger.ts';
import type { PageRecord } from '../../shared/record.ts';
import { cacheKeyOf, type ResponseCache } from '../../shared/response-cache.ts';
import type { Sink } from '../../shared/sink.ts';
import { type Circumstances, judgeAnswer, judgeFailure, MOST_THROTTLES } from '../../shared/task/judgement.ts';
import type { RoutingRule } from '../../shared/task/routing.ts';
import { readMessage, type Task } from '../../shared/task/task.ts';
import { withoutCredentials } from '../../shared/task/url.ts';
import type { Delivery, Handling, OutgoingMessage, Transport } from '../../shared/transport.ts';
import type { FailureLines } from './failure-lines.ts';
import { holdSlot } from './hold-slot.ts';
import type { LeaseKeeper } from './lease-keeper.ts';
import { linksToFollow } from './links.ts';
import type { RunDirectory } from './run-directory.ts';
import type { SeedIntake } from './seed-intake.ts';
import type { Slots } from './slots.ts';
import { type Arrival, doneRecord, type Ending, endedRecord, noteOf, type Visit } from './visit.ts';

export interface PipelineOptions {
  readonly worker: string;
  readonly frontier: Frontier & AttemptHistory;
  readonly transport: Transport;
  readonly gate: HostGate;
  readonly cache: ResponseCache;
  readonly fetcher: Fetcher;
  readonly sink: Sink;
  readonly runs: RunDirectory;
  /** Where messages that are no task are told of. */
  readonly failures?: FailureLines;
  readonly intake: SeedIntake;
  readonly leases: LeaseKeeper;
  readonly slots: Slots;
  readonly rules: readonly RoutingRule[];
  readonly maxBodyBytes: number;
  readonly hostConcurrency: number;
  readonly clock: Clock;
  readonly random: () => number;
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
 * read → admit, and the cached response → gate → fetch → read the page → offer its links → store the record →
 * bury it, if it failed → settle, and keep the response → ack
 *
 * The order of effects is fixed: whatever dies between two of them, the task is worked again, and counts once.
 */
export class Pipeline {
  readonly #options: PipelineOptions;

  constructor(options: PipelineOptions) {
    this.#options = options;
  }

  /** Works on a delivery until it is settled or put back. Rejects when a store fails: the delivery then comes again. */
  async handle(delivery: Delivery): Promise<Handling> {
    const message = readMessage(BODY.decode(delivery.body));
    if (message.kind === 'malformed') return await this.#buryMalformed(delivery, message.problem);
    if (message.kind === 'newer') return await this.#putBackNewer(delivery, message.version);
    const { run } = message.task;
    const release = delivery.headers['x-release'];
    if (run === undefined || release === undefined) return await this.#options.intake.take(message.task);
    return await this.#admit({ ...message.task, run }, release);
  }

  async #admit(task: Task, release: number): Promise<Handling> {
    const { frontier, cache, runs, leases, slots, worker } = this.#options;
    const [admission, cached, run] = await Promise.all([
      frontier.admit(task.run, release, worker),
      cache.get(cacheKeyOf(task.url)),
      runs.find(task.run),
    ]);
    const visit = { task, release, run, worker };
    const arrival = cached === undefined ? undefined : { fetched: cached, fromCache: true };
    switch (admission.verdict) {
      case 'gone':
      case 'put_back':
      case 'cancelled':
        return 'ack';
      case 'unknown_run':
        return await this.#visit({ ...visit, release: 0, state: NEW_TASK }, arrival);
      case 'deadline':
      case 'crash_loop':
        return await this.#end(
          { ...visit, state: admission.state },
          { outcome: { kind: 'failed', reason: admission.verdict } },
        );
      case 'work': {
        const { state, pausedMs } = admission;
        const work = () => this.#visit({ ...visit, state }, arrival, pausedMs);
        leases.keep(task.run, release);
        try {
          return state.starts >= ALONE_FROM_STARTS ? await slots.alone(work) : await work();
        } finally {
          leases.drop(task.run, release);
        }
      }
    }
  }

  async #visit(visit: Visit, cached: Arrival | undefined, pausedMs = 0): Promise<Handling> {
    if (cached !== undefined) return await this.#read(visit, cached);
    const { gate, clock, signal, hostConcurrency } = this.#options;
    const { host } = visit.task;
    const limit: HostLimit = { intervalMs: visit.run.options.intervalMs, concurrency: hostConcurrency };
    const holder = `${visit.worker}:${visit.task.run}:${visit.release}`;
    const held = await holdSlot(host, holder, { gate, clock, limit, pausedMs, signal });
    if (!held.go) return await this.#putBack(visit, held.inMs);
    const began = performance.now();
    const fetched = await this.#fetch(visit);
    // If that fails, the place is free again when its lease ends.
    const left = gate.leave(host, limit, holder, performance.now() - began).catch(() => {});
    const handling = 'fetched' in fetched ? await this.#read(visit, fetched) : await this.#end(visit, fetched);
    await left;
    return handling;
  }

  async #fetch(visit: Visit): Promise<Arrival | Ending> {
    const { fetcher, maxBodyBytes, signal } = this.#options;
    const { accepts = acceptsText } = visit.run.crawler;
    try {
      const fetched = await fetcher.fetch({ url: visit.task.url, maxBodyBytes, signal, accepts });
      const { outcome, hostAnswered } = judgeAnswer(fetched, this.#circumstances(visit));
      return outcome.kind === 'done'
        ? { fetched, fromCache: false }
        : { outcome, hostAnswered, status: fetched.status };
    } catch (error: unknown) {
      if (!(error instanceof FetchError)) throw error;
      return { ...judgeFailure(error.reason, error.message, this.#circumstances(visit)), status: error.status };
    }
  }

  async #read(visit: Visit, arrival: Arrival): Promise<Handling> {
    const { clock, cache } = this.#options;
    const page = new Page(visit.task, arrival.fetched);
    let result: StepResult;
    try {
      result = await visit.run.crawler.step(page);
    } catch (error: unknown) {
      const detail = `the crawler failed: ${messageOf(error)}`;
      return await this.#end(visit, { outcome: { kind: 'failed', reason: 'schema', detail }, hostAnswered: true });
    }
    const offered = await this.#offerLinks(visit, page, result);
    if (offered === 'stale') return 'ack';
    if (offered === 'full') return await this.#putBack(visit, 0);
    const record = doneRecord(visit, arrival, page, result, clock.now());
    if (!(await this.#store(record))) return await this.#putBack(visit, 0);
    const { fetched, fromCache } = arrival;
    const bytes = fromCache ? 0 : fetched.body.byteLength;
    await Promise.all([
      this.#settle(visit, { outcome: { kind: 'done' }, hostAnswered: fromCache ? undefined : true }, bytes),
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

  async #offerLinks(visit: Visit, page: Page, result: StepResult): Promise<'offered' | 'stale' | 'full'> {
    const { frontier, rules } = this.#options;
    const { task, release, run } = visit;
    if (!run.options.follow || release === 0) return 'offered';
    const { options } = run;
    const offers = linksToFollow(result.links ?? page.links, { task, finalUrl: page.url, options, rules });
    for (let at = 0; at < offers.length; at += MAX_OFFER) {
      const answer = await frontier.offer(task.run, offers.slice(at, at + MAX_OFFER), { parent: release });
      if ('accepted' in answer) {
        if (answer.accepted > 0) this.#options.onOffered?.();
        continue;
      }
      if (answer.refused === 'run') continue;
      return answer.refused === 'parent' ? 'stale' : 'full';
    }
    return 'offered';
  }

  /** Everything but a page: told in the records, buried if it failed, settled. */
  async #end(visit: Visit, ending: Ending): Promise<Handling> {
    const { clock } = this.#options;
    const { outcome, status } = ending;
    if (outcome.kind === 'defer' && visit.release === 0) return 'return';
    const record = endedRecord(visit, ending, clock.now());
    if (record !== undefined && !(await this.#store(record))) return await this.#putBack(visit, 0);
    if (outcome.kind === 'failed' && !(await this.#bury(visit, ending))) return await this.#putBack(visit, 0);
    await this.#settle(visit, ending);
    const reason = 'reason' in outcome ? outcome.reason : outcome.kind === 'defer' ? outcome.host?.reason : undefined;
    const detail = 'detail' in outcome && outcome.detail !== `HTTP ${status}` ? outcome.detail : undefined;
    this.#tell(visit, outcome.kind, { reason, status, error: detail });
    return 'ack';
  }

  async #bury(visit: Visit, ending: Ending): Promise<boolean> {
    const { frontier, clock } = this.#options;
    const { outcome, status } = ending;
    if (outcome.kind !== 'failed') return true;
    const earlier = visit.state.attempts + visit.state.throttles > 0 ? await frontier.attempts(visit.task.mark) : [];
    const note = noteOf(visit, ending, clock.now());
    const attempts = note === undefined ? earlier : [note, ...earlier].slice(0, 10);
    const { reason, detail: error } = outcome;
    return await this.#publish(
      deadLetterOf(visit.task, visit.state, { reason, status, error, attempts, at: clock.now() }),
    );
  }

  async #buryMalformed({ id, body }: Delivery, problem: string): Promise<Handling> {
    try {
      await this.#options.failures?.ofMessage({ id, body }, problem);
    } catch (error: unknown) {
      this.#options.onSinkFailure(messageOf(error));
      return 'return';
    }
    const isBuried = await this.#publish(malformedLetterOf(id, body, problem));
    this.#options.log.warn({ error: problem }, 'a message that is no task: buried');
    return isBuried ? 'ack' : 'return';
  }

  /** A newer program's task goes back to waiting, for a worker that can read it. */
  async #putBackNewer({ id = '', headers }: Delivery, version: number): Promise<Handling> {
    const run = id.slice(0, Math.max(0, id.lastIndexOf(':')));
    const release = headers['x-release'];
    this.#options.log.warn({ version }, 'a message of a newer version: put back');
    if (run === '' || release === undefined) return 'return';
    await this.#options.frontier.settle(run, release, { outcome: { kind: 'defer' } });
    return 'ack';
  }

  async #putBack(visit: Visit, hostFreeInMs: number): Promise<Handling> {
    const { frontier, clock, signal } = this.#options;
    if (visit.release === 0) {
      // It comes again at once: only here can it wait.
      await clock.sleep(Math.min(hostFreeInMs, MAX_HOLD_MS), signal);
      return 'return';
    }
    await frontier.settle(visit.task.run, visit.release, { outcome: { kind: 'defer' }, hostFreeInMs });
    return 'ack';
  }

  async #settle(visit: Visit, ending: Ending, bytes = 0): Promise<void> {
    if (visit.release === 0) return;
    const { frontier, clock } = this.#options;
    const { outcome, hostAnswered } = ending;
    const attempt = noteOf(visit, ending, clock.now());
    await frontier.settle(visit.task.run, visit.release, {
      outcome,
      bytes,
      ...(hostAnswered === undefined ? {} : { hostAnswered }),
      ...(attempt === undefined ? {} : { attempt }),
    });
  }

  async #store(record: PageRecord): Promise<boolean> {
    try {
      await this.#options.sink.put(record);
      return true;
    } catch (error: unknown) {
      this.#options.onSinkFailure(messageOf(error));
      return false;
    }
  }

  async #publish(message: OutgoingMessage): Promise<boolean> {
    const [outcome] = await this.#options.transport.publish([message]);
    return outcome === 'confirmed';
  }

  #circumstances({ state, run, release }: Visit): Circumstances {
    const { clock, random } = this.#options;
    const about = { attempts: state.attempts, now: clock.now(), random: random() };
    // Without a ledger there is nowhere to wait for another attempt: what would is given up, and buried.
    if (release === 0) return { ...about, throttles: MOST_THROTTLES, maxAttempts: 1 };
    return { ...about, throttles: state.throttles, maxAttempts: run.options.maxAttempts };
  }

  #tell({ task }: Visit, outcome: string, fields: object): void {
    this.#options.log.info({ run: task.run, ...fields, url: withoutCredentials(task.url) }, outcome);
  }
}
