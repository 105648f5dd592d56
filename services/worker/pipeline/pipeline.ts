import { Page } from '../../../shared/crawler/page.ts';
import { FULL_NAP_MS } from '../../../shared/loops/full-store.ts';
import { PageHold } from '../../../shared/ports/fetcher.ts';
import {
  ALONE_FROM_STARTS,
  type AttemptHistory,
  type Claims,
  type Frontier,
  type Ledger,
  nameOf,
  type SettleReply,
  type TaskState,
} from '../../../shared/ports/frontier.ts';
import { MAX_SLOT_WAIT_MS } from '../../../shared/ports/host-gate.ts';
import type { PageRecord } from '../../../shared/ports/record.ts';
import type { ResponseCache } from '../../../shared/ports/response-cache.ts';
import { RecordRefusedError, type Sink } from '../../../shared/ports/sink.ts';
import type { Delivery, Handling, Transport } from '../../../shared/ports/transport.ts';
import { ConfigurationError, messageOf } from '../../../shared/runtime/errors.ts';
import type { Logger } from '../../../shared/runtime/logger.ts';
import type { RoutingRule } from '../../../shared/task/task/routing.ts';
import { nextUrlOf, type Task } from '../../../shared/task/task/task.ts';
import { markOf } from '../../../shared/task/url/fingerprint.ts';
import { keyWithLogin } from '../../../shared/task/url/logins.ts';
import { canonicalOf } from '../../../shared/task/url/url.ts';
import { urlKeyOf } from '../../../shared/task/url/url-key.ts';
import type { Slots } from '../concurrency/slots.ts';
import { publishDeadLetter } from '../dead-lettering.ts';
import { readDelivery } from '../delivered.ts';
import type { FailureLines } from '../failure-lines.ts';
import { ForeignMessages } from '../foreign-messages.ts';
import type { LeaseKeeper } from '../lease-keeper.ts';
import { OutcomeLog } from '../outcome-log.ts';
import { expectStep, type RunDirectory, type WorkedRun } from '../run-directory.ts';
import type { SeedIntake } from '../seed-intake.ts';
import { CachedResponses } from './cached-responses.ts';
import { LinkOffers } from './link-offers.ts';
import { type Known, Requests, type RequestsOptions } from './requests.ts';
import { rememberedOf } from './revisit.ts';
import { type Extract, StepError, Steps, type StepsOptions } from './steps.ts';
import {
  type Arrival,
  doneRecord,
  type Ending,
  endedRecord,
  failedStep,
  loginOf,
  noteOf,
  type Visit,
  wayOf,
} from './visit.ts';

export interface PipelineOptions extends RequestsOptions, StepsOptions {
  readonly worker: string;
  readonly frontier: Frontier & AttemptHistory & Claims & Ledger;
  readonly transport: Transport;
  readonly cache: ResponseCache;
  readonly sink: Sink;
  readonly runs: RunDirectory;
  /** Records messages that are not tasks. */
  readonly failures?: FailureLines;
  readonly intake: SeedIntake;
  readonly leases: LeaseKeeper;
  readonly slots: Slots;
  readonly rules: readonly RoutingRule[];
  readonly log: Logger;
  /** Aborts the work under way when the worker's time to stop is up. */
  readonly signal: AbortSignal;
  /** Called when links were taken: some may be due. */
  readonly onOffered?: () => void;
  /** Records can't be stored: the worker should stop consuming. */
  readonly onSinkFailure: (reason: string) => void;
}

const NEW_TASK: TaskState = { attempts: 0, starts: 1, throttles: 0, firstSeen: 0 };

/**
 * Takes a delivery to its outcome, in these steps:
 *
 * read → its run → admit, and the cached response → robots → gate → fetch → read the page → offer its links → store the record →
 * dead-letter it, if it failed → settle, and keep the response → ack
 *
 * The order of effects is fixed: if the process dies between two of them, the task is worked on again, and still counts once.
 */
export class Pipeline {
  readonly #options: PipelineOptions;
  readonly #foreign: ForeignMessages;
  readonly #links: LinkOffers;
  readonly #requests: Requests;
  readonly #steps: Steps;
  readonly #outcomes: OutcomeLog;
  readonly #cached: CachedResponses;
  /** Resolves once every large page so far has been read. */
  #largePages: Promise<void> = Promise.resolve();

  constructor(options: PipelineOptions) {
    this.#options = options;
    this.#foreign = new ForeignMessages(options);
    this.#links = new LinkOffers(options);
    this.#requests = new Requests(options);
    this.#steps = new Steps(options);
    this.#outcomes = new OutcomeLog(options);
    this.#cached = new CachedResponses(options.cache);
  }

  /**
   * Processes a delivery until its task is settled or put back. `behind`: it is for other programs. Rejects when a store fails;
   * the delivery must then be returned.
   */
  async handle(delivery: Delivery): Promise<Handling | 'behind'> {
    const message = readDelivery(delivery);
    if (message.kind === 'malformed') return await this.#foreign.deadLetter(delivery, message.problem);
    if (message.kind === 'newer')
      return await this.#foreign.leaveToOthers(delivery, `a message of the newer version ${message.version}`);
    const { run } = message.task;
    const release = delivery.headers['x-release'];
    if (run === undefined || release === undefined) return await this.#options.intake.take(message.task);
    try {
      const worked = await this.#options.runs.find(run);
      expectStep(worked, message.task.step);
      return await this.#admit({ ...message.task, run }, release, worked);
    } catch (error: unknown) {
      if (!(error instanceof ConfigurationError)) throw error;
      return await this.#foreign.leaveToOthers(delivery, `run ${run}: ${error.message}`);
    }
  }

  async #admit(task: Task, release: number, found: WorkedRun): Promise<Handling> {
    const { frontier, robots, runs, leases, slots, worker } = this.#options;
    const name = nameOf({ release, task });
    const [admission, cached, rules] = await Promise.all([
      frontier.admit(task.run, name, worker),
      this.#cached.find(task, found.options),
      robots?.look(nextUrlOf(task)),
    ]);
    const run = 'incarnation' in admission ? await runs.findAs(task.run, admission.incarnation) : found;
    expectStep(run, task.step);
    // Named by release, not by worker: a worker that takes over from a dead one gets its place at the host without a wait.
    const holder = `${task.run}:${release}`;
    const visit = {
      task,
      release,
      holder,
      run,
      worker,
      known: 'known' in admission ? admission.known : undefined,
    };
    const isServed = cached !== undefined && this.#cached.serves(run.options);
    const known = { rules, arrival: isServed ? { fetched: cached, fromCache: true } : undefined };
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
        const { state, pausedMs, answersOthers } = admission;
        const work = () => this.#visit({ ...visit, state, answersOthers }, { ...known, pausedMs });
        leases.keep(task.run, name);
        try {
          if (state.starts < ALONE_FROM_STARTS) {
            slots.noteUnsuspected();
            return await work();
          }
          // If it waited here for another suspect that kills the process, it would be blamed without having begun.
          if (slots.isReserved) return await this.#putBack({ ...visit, state }, 0);
          return await slots.alone(work);
        } finally {
          leases.drop(task.run, name);
        }
      }
    }
  }

  async #visit(visit: Visit, known: Known): Promise<Handling> {
    const hold = new PageHold();
    try {
      const requested = await this.#requests.make(visit, known, hold);
      const { visit: at } = requested;
      if ('laterMs' in requested) return await this.#putBack(at, requested.laterMs);
      const handling =
        'arrival' in requested ? await this.#read(at, requested.arrival) : await this.#end(at, requested.ending);
      await requested.left;
      return handling;
    } finally {
      hold.end();
    }
  }

  async #read(visit: Visit, arrival: Arrival): Promise<Handling> {
    const { clock } = this.#options;
    const { finalUrl } = arrival.fetched;
    const key = urlKeyOf(canonicalOf(finalUrl), visit.run.options.urlKey);
    const mark = markOf(keyWithLogin(key, loginOf(visit, finalUrl)), visit.task.step);
    const claim = await this.#claim(visit, mark);
    if (claim === 'stale') return 'ack';
    if (claim === 'taken') {
      const detail = `redirected to ${finalUrl}, which is known`;
      return await this.#end(visit, { outcome: { kind: 'skipped', reason: 'duplicate', detail }, hostAnswered: true });
    }
    const page = new Page(visit.task, arrival.fetched);
    if (page.isLarge) await this.#readAhead(page, visit);
    let extract: Extract;
    try {
      extract = await this.#steps.extract(visit.run, page);
    } catch (error: unknown) {
      if (!(error instanceof StepError)) throw error;
      return await this.#end(visit, failedStep(error));
    }
    const offered = await this.#links.offer(visit, page, extract);
    if (offered.how === 'stale') return 'ack';
    if (offered.how === 'full') return await this.#putBack(visit, 0, FULL_NAP_MS);
    const isMoreCut = offered.how === 'cut' && !page.truncated.includes('links');
    const truncated = isMoreCut ? [...page.truncated, 'links' as const] : page.truncated;
    const record = doneRecord(visit, arrival, page, extract, { at: clock.now(), truncated });
    const stored = await this.#store(record);
    if (stored === 'failed') return await this.#putBack(visit, 0);
    if (stored !== 'stored') {
      const outcome = { kind: 'failed', reason: stored.reason, detail: stored.message } as const;
      return await this.#end(visit, { outcome, hostAnswered: true });
    }
    const { fetched, fromCache, askedAt } = arrival;
    const { contentHash } = record;
    const bytes = fromCache ? 0 : fetched.body.byteLength;
    const [reply] = await Promise.all([
      this.#settle(
        visit,
        {
          outcome: { kind: 'done' },
          hostAnswered: fromCache ? undefined : true,
          answer: fetched,
          askedAt,
          contentHash,
          claimed: mark === visit.task.mark ? undefined : mark,
          leftOut: offered.leftOut,
          tally: offered.tally,
          leadsOn: extract.follows.length > 0 || (visit.run.options.follow && page.hasNext),
        },
        bytes,
      ),
      fromCache ? undefined : this.#cached.keep(visit, fetched),
    ]);
    const { status, durationMs } = fetched;
    if (reply === 'put_back') {
      this.#outcomes.tell(visit.task, 'defer', { status, reason: 'the store has lost links of the page' });
      return 'ack';
    }
    this.#outcomes.tell(visit.task, 'done', {
      status,
      ms: fromCache ? undefined : Math.round(durationMs),
      cached: fromCache || undefined,
    });
    return 'ack';
  }

  /** Reads large pages one at a time, so that only one page's text is in memory. */
  async #readAhead(page: Page, { run }: Visit): Promise<void> {
    const read = this.#largePages.then(() => page.readAhead(run.options.content));
    this.#largePages = read.catch(() => {});
    await read;
  }

  /** Claims the URL that the task was redirected to: its page stands for both URLs. */
  async #claim({ task, release, run, known }: Visit, mark: string): Promise<'claimed' | 'taken' | 'stale'> {
    if (mark === task.mark || release === 0) return 'claimed';
    // An earlier run claimed it for this same task, and such marks are kept.
    if (mark === known?.claimed && run.options.dedup === 'ever') return 'claimed';
    return await this.#options.frontier.claim(task.run, nameOf({ release, task }), mark);
  }

  /** Ends a task that gave no page: records it, dead-letters it if it failed, settles it. */
  async #end(visit: Visit, ending: Ending): Promise<Handling> {
    const { clock } = this.#options;
    const { outcome, status } = ending;
    if (outcome.kind === 'defer' && visit.release === 0) return 'return';
    const record = endedRecord(visit, ending, clock.now());
    if (record !== undefined && (await this.#store(record)) === 'failed') return await this.#putBack(visit, 0);
    if (outcome.kind === 'failed' && !(await publishDeadLetter(visit, ending, this.#options)))
      return await this.#putBack(visit, 0);
    await this.#settle(visit, ending);
    const reason = 'reason' in outcome ? outcome.reason : outcome.kind === 'defer' ? outcome.host?.reason : undefined;
    const detail = 'detail' in outcome && outcome.detail !== `HTTP ${status}` ? outcome.detail : undefined;
    this.#outcomes.tell(visit.task, outcome.kind, { reason, status, error: detail });
    return 'ack';
  }

  /** Puts a task back. `hostFreeInMs` holds for its host, `restMs` for this task: each waits at least that long. */
  async #putBack(visit: Visit, hostFreeInMs: number, restMs = 0): Promise<Handling> {
    const { frontier, clock, signal } = this.#options;
    if (visit.release === 0) {
      // Without a ledger it is redelivered at once, so the wait must be here.
      await clock.sleep(Math.min(hostFreeInMs, MAX_SLOT_WAIT_MS), signal);
      return 'return';
    }
    const outcome = { kind: 'defer', ...(restMs === 0 ? {} : { inMs: restMs }) } as const;
    const settlement = { outcome, hostFreeInMs, ...wayOf(visit) };
    await frontier.settle(visit.task.run, nameOf(visit), settlement);
    return 'ack';
  }

  async #settle(visit: Visit, ending: Ending, bytes = 0): Promise<SettleReply | undefined> {
    if (visit.release === 0) return undefined;
    const { frontier, clock } = this.#options;
    const { outcome, hostAnswered, hostFault, hostTrouble, slowDown, leftOut, tally } = ending;
    const attempt = noteOf(visit, ending, clock.now());
    const page = rememberedOf(visit, ending, clock.now());
    return await frontier.settle(visit.task.run, nameOf(visit), {
      outcome,
      bytes,
      ...wayOf(visit),
      ...(hostAnswered === undefined ? {} : { hostAnswered }),
      ...(hostTrouble === undefined ? {} : { hostTrouble }),
      ...(hostFault === undefined ? {} : { hostFault }),
      ...(slowDown === undefined ? {} : { slowDown }),
      ...(attempt === undefined ? {} : { attempt }),
      ...(leftOut === undefined ? {} : { leftOut }),
      ...(tally === undefined ? {} : { tally }),
      ...(page === undefined ? {} : { page }),
    });
  }

  async #store(record: PageRecord): Promise<'stored' | 'failed' | RecordRefusedError> {
    try {
      await this.#options.sink.put(record);
      return 'stored';
    } catch (error: unknown) {
      if (error instanceof RecordRefusedError) return error;
      this.#options.onSinkFailure(messageOf(error));
      return 'failed';
    }
  }
}
