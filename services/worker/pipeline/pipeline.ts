import type { Extract } from '../../../shared/crawler/document/reading.ts';
import { StepError } from '../../../shared/crawler/failures/step-error.ts';
import { FILE_STEP } from '../../../shared/crawler/file-step.ts';
import { writeInput } from '../../../shared/crawler/joins/group-material.ts';
import { Page } from '../../../shared/crawler/page.ts';
import { type BodyBudget, type Fetcher, PageHold } from '../../../shared/ports/fetcher.ts';
import type { FileStore } from '../../../shared/ports/file-store.ts';
import {
  ALONE_FROM_STARTS,
  type AttemptHistory,
  type Claims,
  type Frontier,
  type Ledger,
  nameOf,
  type TaskState,
} from '../../../shared/ports/frontier/frontier.ts';
import type { Groups } from '../../../shared/ports/frontier/groups.ts';
import type { MissingSteps } from '../../../shared/ports/frontier/missing-steps.ts';
import type { ResponseCache } from '../../../shared/ports/response-cache.ts';
import { RecordRefusedError } from '../../../shared/ports/sink.ts';
import type { Delivery, Handling } from '../../../shared/ports/transport.ts';
import { ConfigurationError, messageOf } from '../../../shared/runtime/errors.ts';
import type { Logger } from '../../../shared/runtime/logger.ts';
import { isTaken } from '../../../shared/task/group/plan.ts';
import type { RoutingRule } from '../../../shared/task/task/routing.ts';
import { nextUrlOf, type Task } from '../../../shared/task/task/task.ts';
import type { Slots } from '../concurrency/slots.ts';
import { readDelivery } from '../delivered.ts';
import type { FailureLines } from '../failure-lines.ts';
import { ForeignMessages } from '../foreign-messages.ts';
import { JoinWork, type JoinWorkOptions } from '../joins/join-work.ts';
import type { LeaseKeeper } from '../lease-keeper.ts';
import { LongMissingSteps } from '../long-missing-steps.ts';
import { OutcomeLog } from '../outcome-log.ts';
import { expectStep, type RunDirectory, type WorkedRun } from '../run-directory.ts';
import { FOREIGN_RUN, type SeedIntake } from '../seed-intake.ts';
import { Sessions } from '../sessions/sessions.ts';
import { hasAsked, seen, storable, transformed } from './around-fetch.ts';
import { CachedResponses } from './cached-responses.ts';
import { claimArrival, knownAlready } from './claim-arrival.ts';
import { Endings, type EndingsOptions } from './endings.ts';
import { fallBack, type ReadPage, underRules } from './fallbacks.ts';
import { robotsFor } from './hosts/robots.ts';
import { LinkOffers } from './link-offers.ts';
import { LostRuns } from './lost-runs.ts';
import { OwnReader } from './own-reader.ts';
import { type Known, Requests, type RequestsOptions } from './requests.ts';
import { Steps, type StepsOptions } from './steps.ts';
import {
  type Arrival,
  aboutAnswer,
  arrivedMark,
  doneRecord,
  type Ending,
  failedStep,
  type OwnReading,
  type Visit,
} from './visit.ts';

export interface PipelineOptions
  extends Omit<RequestsOptions, 'steps' | 'sessions'>,
    StepsOptions,
    EndingsOptions,
    Omit<JoinWorkOptions, 'frontier' | 'fetcher' | 'clock' | 'random'> {
  readonly worker: string;
  readonly frontier: Frontier & AttemptHistory & Claims & Groups & Ledger & MissingSteps;
  readonly fetcher: Fetcher & BodyBudget;
  readonly cache: ResponseCache;
  /** The store for files that steps ask for. */
  readonly files: FileStore;
  readonly runs: RunDirectory;
  /** Records messages that are not tasks. */
  readonly failures?: FailureLines;
  readonly intake: SeedIntake;
  readonly leases: LeaseKeeper;
  readonly slots: Slots;
  readonly rules: readonly RoutingRule[];
  readonly log: Logger;
}

/** A page that a step has read. */
interface Kept extends ReadPage {
  /** The mark of the page that its redirects led to, if that isn't the task's own. */
  readonly claimed: string | undefined;
  /** Findings of its request about the host. */
  readonly ending: Omit<Ending, 'outcome'>;
}

const NEW_TASK: TaskState = { attempts: 0, starts: 1, throttles: 0, firstSeen: 0 };

/**
 * Takes a delivery to its outcome, in these steps:
 *
 * read → its run → admit, and the cached response → robots → gate → fetch → read the page → offer its links → store the record →
 * dead-letter it, if it failed → settle, and keep the response → ack
 *
 * The order of effects is fixed: if the process dies between two of them, the task is worked on again and still counts once.
 */
export class Pipeline {
  readonly #options: PipelineOptions;
  readonly #foreign: ForeignMessages;
  readonly #lost: LostRuns;
  readonly #missing: LongMissingSteps;
  readonly #links: LinkOffers;
  readonly #requests: Requests;
  readonly #steps: Steps;
  readonly #outcomes: OutcomeLog;
  readonly #endings: Endings;
  readonly #joins: JoinWork;
  readonly #cached: CachedResponses;
  readonly #own: OwnReader;

  constructor(options: PipelineOptions) {
    this.#options = options;
    this.#foreign = new ForeignMessages(options);
    this.#lost = new LostRuns(options.log);
    this.#missing = new LongMissingSteps(options);
    this.#links = new LinkOffers(options);
    this.#steps = new Steps(options);
    this.#own = new OwnReader(this.#steps);
    const called = { ...options, steps: this.#steps };
    this.#requests = new Requests({ ...called, sessions: new Sessions(called) });
    this.#joins = new JoinWork(options, this.#steps);
    this.#outcomes = new OutcomeLog(options);
    this.#endings = new Endings(options, this.#outcomes);
    this.#cached = new CachedResponses(options.cache);
  }

  /**
   * Processes a delivery until its task is settled or put back. Returns `behind` if it is for other programs. Rejects when a store fails;
   * the delivery must then be returned.
   */
  async handle(delivery: Delivery): Promise<Handling | 'behind'> {
    const message = readDelivery(delivery);
    if (message.kind === 'malformed') return await this.#foreign.deadLetter(delivery, message.problem);
    if (message.kind === 'newer')
      return await this.#foreign.leaveToOthers(delivery, `a message of the newer version ${message.version}`);
    const { run } = message.task;
    const release = delivery.headers['x-release'];
    const isSeed = run === undefined || release === undefined;
    if (message.task.join !== undefined && isSeed)
      return await this.#foreign.deadLetter(delivery, 'a join that no store has made');
    try {
      if (isSeed) return await this.#options.intake.take(message.task);
      const worked = await this.#options.runs.find(run);
      expectStep(worked, message.task);
      return await this.#admit({ ...message.task, run }, release, worked);
    } catch (error: unknown) {
      if (!(error instanceof ConfigurationError)) throw error;
      const problem = `run ${run ?? FOREIGN_RUN}: ${error.message}`;
      if (!isSeed && (await this.#missing.fail({ ...message.task, run }, release, problem))) return 'ack';
      return await this.#foreign.leaveToOthers(delivery, problem);
    }
  }

  async #admit(task: Task, release: number, found: WorkedRun): Promise<Handling> {
    const { frontier, runs, leases, slots, worker } = this.#options;
    const robots = robotsFor(this.#options.robots, found);
    const name = nameOf({ release, task });
    const isJoin = task.join !== undefined;
    const [admission, cached, rules] = await Promise.all([
      frontier.admit(task.run, name, worker),
      isJoin ? undefined : this.#cached.find(task, found),
      isJoin ? undefined : robots?.look(nextUrlOf(task)),
    ]);
    const run = 'incarnation' in admission ? await runs.findAs(task.run, admission.incarnation) : found;
    expectStep(run, task);
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
        this.#lost.met(task.run);
        // A join's inputs are lost with the run, so it would replace a right record by a wrong one.
        if (isJoin) return 'ack';
        return await PageHold.during((hold) => this.#visit({ ...visit, release: 0, state: NEW_TASK }, known, hold));
      case 'deadline':
      case 'crash_loop':
        return await this.#end(
          { ...visit, state: admission.state },
          { outcome: { kind: 'failed', reason: admission.verdict } },
        );
      case 'work': {
        const { state, pausedMs, answersOthers } = admission;
        const work = () =>
          isJoin
            ? PageHold.during((hold) => this.#join({ ...visit, state }, hold))
            : PageHold.during((hold) => this.#visit({ ...visit, state, answersOthers }, { ...known, pausedMs }, hold));
        leases.keep(task.run, name);
        try {
          if (state.starts < ALONE_FROM_STARTS) {
            slots.noteUnsuspected();
            return await work();
          }
          // If it waited here for another suspect that kills the process, it would be blamed without having begun.
          if (slots.isReserved) return await this.#endings.putBack({ ...visit, state }, 0);
          return await slots.alone(work);
        } finally {
          leases.drop(task.run, name);
        }
      }
    }
  }

  async #visit(visit: Visit, known: Known, hold: PageHold): Promise<Handling> {
    const requested = await this.#requests.make(visit, known, hold);
    const { visit: at } = requested;
    if ('laterMs' in requested) return await this.#endings.putBack(at, requested.laterMs);
    const came = await seen(at, requested, this.#steps);
    const handling = 'arrival' in came ? await this.#read(at, came.arrival) : await this.#end(at, came.ending);
    await requested.left;
    return handling;
  }

  /** Runs a join, which makes its record from the results of its group or run. */
  async #join(visit: Visit, hold: PageHold): Promise<Handling> {
    const made = await this.#joins.make(visit, hold);
    if (made === 'stale') return 'ack';
    if ('ending' in made) return await this.#endings.over(visit, made.ending);
    const { record, input } = made;
    const unstored = await this.#endings.unlessStored(visit, input instanceof RecordRefusedError ? input : record);
    if (unstored !== undefined) return unstored;
    await this.#endings.settle(visit, {
      outcome: { kind: 'done' },
      input: typeof input === 'string' ? input : undefined,
    });
    this.#outcomes.tell(visit.task, 'done', { ms: record.durationMs });
    return 'ack';
  }

  async #read(visit: Visit, arrival: Arrival): Promise<Handling> {
    const { finalUrl } = arrival.fetched;
    const mark = arrivedMark(visit, finalUrl);
    const claim = await claimArrival(visit, mark, this.#options.frontier);
    if (claim === 'stale') return 'ack';
    if (claim === 'taken') return await this.#end(visit, { ...knownAlready(finalUrl), ...aboutAnswer(arrival) });
    const claimed = mark === visit.task.mark ? undefined : mark;
    if (visit.task.step === FILE_STEP.key) return await this.#keepFile(visit, arrival, claimed);
    const page = new Page(visit.task, arrival.fetched);
    let extract: Extract;
    try {
      if (page.isLarge) await this.#own.readAhead(visit, page);
      extract = await this.#steps.extract(visit.run, page);
    } catch (error: unknown) {
      if (!(error instanceof StepError)) throw error;
      return await this.#end(visit, { ...failedStep(error), ...aboutAnswer(arrival) }, { arrival, page, claimed });
    }
    page.forgetTree();
    const ending = { hostAnswered: arrival.isMade === true ? undefined : true, ...aboutAnswer(arrival) };
    return await this.#keep(visit, { arrival, page, extract, claimed, ending });
  }

  async #keepFile(visit: Visit, arrival: Arrival, claimed: string | undefined): Promise<Handling> {
    const { storeFile } = await import('./downloads.ts');
    let stored: ReadPage;
    try {
      stored = await storeFile(visit, arrival, this.#options.files);
    } catch (error: unknown) {
      this.#options.onSinkFailure(messageOf(error));
      return await this.#endings.putBack(visit, 0);
    }
    return await this.#keep(visit, { ...stored, claimed, ending: { hostAnswered: true } });
  }

  /** Keeps the result of a step for a page: offers its links, stores its record, settles its task. */
  async #keep(visit: Visit, { arrival, page, extract: given, claimed, ending }: Kept): Promise<Handling> {
    const { clock } = this.#options;
    let own: OwnReading;
    let extract: Extract;
    try {
      own = await this.#own.readRecorded(visit, page);
      extract = await transformed(visit, page, given, this.#steps);
    } catch (error: unknown) {
      if (!(error instanceof StepError)) throw error;
      return await this.#endings.over(visit, { ...ending, ...failedStep(error) });
    }
    const offered = await this.#links.offer(visit, page, extract);
    if (offered.how === 'stale') return 'ack';
    if (offered.how === 'full') return await this.#endings.withoutRoom(visit, offered.refused);
    const isMoreCut = offered.how === 'cut' && !own.truncated.includes('links');
    const truncated = isMoreCut ? [...own.truncated, 'links' as const] : own.truncated;
    const made = doneRecord(visit, arrival, { ...own, truncated }, extract, clock.now());
    const kept = await storable(visit, made, this.#steps);
    const { leftOut, tally } = offered;
    if ('ending' in kept) return await this.#endings.over(visit, { ...ending, leftOut, tally, ...kept.ending });
    const { record } = kept;
    const input = isTaken(visit.run.options.joins, visit.task) ? writeInput(visit.task, extract) : undefined;
    const toStore = input instanceof RecordRefusedError ? input : record;
    const unstored = await this.#endings.unlessStored(visit, toStore, { ...ending, leftOut });
    if (unstored !== undefined) return unstored;
    const { fetched, fromCache, askedAt } = arrival;
    const isPage = fetched.status >= 200 && fetched.status < 300;
    const bytes = hasAsked(arrival) ? fetched.body.byteLength : 0;
    const [reply] = await Promise.all([
      this.#endings.settle(
        visit,
        {
          ...ending,
          outcome: { kind: 'done' },
          answer: isPage ? fetched : undefined,
          hostAnswered: fromCache ? undefined : ending.hostAnswered,
          askedAt,
          contentHash: record.contentHash,
          claimed,
          leftOut,
          tally,
          input: typeof input === 'string' ? input : undefined,
          leadsOn: extract.follows.length > 0 || (visit.run.options.follow && page.nextPages.length > 0),
        },
        bytes,
      ),
      !hasAsked(arrival) || arrival.isChanged === true || !isPage ? undefined : this.#cached.keep(visit, fetched),
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

  /** Ends a task that gave no page: records it, dead-letters it if it failed, settles it. Its fallback can still make a page of it. */
  async #end(visit: Visit, given: Ending, read?: Pick<Kept, 'arrival' | 'page' | 'claimed'>): Promise<Handling> {
    if (visit.task.join !== undefined) return await this.#endings.over(visit, given);
    const ruled = underRules(visit, given, this.#options.random());
    const { ending, ...kept } = await fallBack(visit, ruled, this.#steps, read);
    if (!('extract' in kept)) return await this.#endings.over(visit, ending);
    return await this.#keep(visit, { ...kept, claimed: read?.claimed, ending });
  }
}
