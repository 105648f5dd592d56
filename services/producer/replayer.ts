import {
  type FoundLetter,
  isMeant,
  type LetterFilter,
  readLetter,
} from '../../shared/control/letters/letter-filter.ts';
import { offerUntilTaken } from '../../shared/loops/repeated-offer.ts';
import { type Frontier, MAX_OFFER, type OfferResult } from '../../shared/ports/frontier/frontier.ts';
import type { Marks } from '../../shared/ports/marks.ts';
import { REPLAYER, type RunOptions, type Runs } from '../../shared/ports/runs.ts';
import type { DeadLetters, LetterFate } from '../../shared/ports/transport.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import { TRAWL } from '../../shared/runtime/started-as.ts';
import { partsOf } from '../../shared/task/parts.ts';
import type { TaskOffer } from '../../shared/task/task/offer.ts';
import type { RoutingRule } from '../../shared/task/task/routing.ts';
import { byWhatTheyReplay, isWithoutOwner, OwnerCount, offerOfLetter, SeenOwners } from './letter-offers.ts';
import { findReplayRun, type ReplayRun } from './replay-runs.ts';
import { RunClosedError } from './run-closed.ts';
import { RunLostError } from './run-lost.ts';

interface ReplayerOptions {
  readonly letters: Pick<DeadLetters, 'sift'>;
  readonly frontier: Frontier;
  readonly runs: Runs;
  readonly marks: Marks;
  readonly rules: readonly RoutingRule[];
  readonly clock: Clock;
  readonly filter: LetterFilter;
  /** Maximum letters that are replayed. */
  readonly limit: number;
  /** Options for letters of runs that the store has forgotten. */
  readonly defaults: RunOptions;
  /** Options that differ from the origin's. */
  readonly overrides: Partial<RunOptions>;
  /** Whether to report what would happen without doing it. */
  readonly isDry: boolean;
  readonly signal: AbortSignal;
}

/** The counts for the letters of one run. */
export interface ReplayTally extends ReplayRun {
  /** The incarnation of the run it opened; left out if it opened none. */
  incarnation?: string;
  letters: number;
  /** Letters of groups, and their owners, each of which is offered once. */
  readonly ofGroups: Readonly<Pick<OwnerCount, 'letters' | 'owners'>>;
  /** Accepted by the frontier as tasks of the replay run. */
  accepted: number;
  /** Taken before by an interrupted replay, or by a later run that found the URL again. */
  known: number;
}

type OwnTally = ReplayTally & { readonly ofGroups: OwnerCount };

/** Letters examined at once, and runs offered to at once: each makes several calls to the store, one after another. */
const AT_ONCE = 32;

/** The result of a replay. */
export interface ReplayResult {
  readonly runs: readonly ReplayTally[];
  /** Letters of tasks that the broker took out of their queue; these tasks wait in their own runs again. */
  readonly undelivered: number;
  /** Letters that aren't tasks; they stay in the queue. */
  readonly malformed: number;
  /** Letters of group members and joins that don't name their owner, without which they would achieve nothing. They stay in the queue. */
  readonly withoutOwner: number;
}

/**
 * Offers dead letters again, as new runs with the options of the runs they come from.
 *
 * The frontier takes each letter before it leaves `failed_urls`. If the replayer is killed between the two, the letter is still there, and
 * a repeat offers it to the same run, which knows it; {@link findReplayRun} explains how the repeat finds that run. A letter that the
 * broker returns only after that run was sealed is known by its mark. So no letter is lost, and none is worked twice.
 *
 * For letters of a group, the owner is offered once, past its mark. A task that the broker took out of its queue has not failed: it waits
 * in its own run again, unless its lease has already brought it back. Only if the store has forgotten that run is it offered as the others
 * are.
 */
export class Replayer {
  readonly #options: ReplayerOptions;
  readonly #runs = new Map<string, Promise<OwnTally>>();
  readonly #owners = new SeenOwners();
  #left: number;
  #undelivered = 0;
  #malformed = 0;
  #withoutOwner = 0;

  constructor(options: ReplayerOptions) {
    this.#options = options;
    this.#left = options.limit;
  }

  /**
   * Replays the letters. Call it once. Ends early when the signal is aborted, and then leaves its runs open so that a repeat can resume
   * them.
   *
   * @throws {RunLostError} when the store has lost a run that has taken letters
   */
  async replay(): Promise<ReplayResult> {
    const { letters, runs, signal, isDry } = this.#options;
    const enough = new AbortController();
    await letters.sift(
      async (messages) => {
        const fates = await this.#judge(messages.map(readLetter));
        if (this.#left === 0) enough.abort();
        return fates;
      },
      AbortSignal.any([signal, enough.signal]),
    );
    const told = (await Promise.all(this.#runs.values())).filter((tally) => tally.letters > 0);
    if (!isDry && !signal.aborted) {
      const seal = async ({ run, origin, incarnation }: OwnTally): Promise<void> => {
        if ((await runs.seal(run, REPLAYER, incarnation)) === undefined) throw lost(run, origin);
      };
      for (const some of partsOf(told, AT_ONCE)) await Promise.all(some.map(seal));
    }
    return {
      runs: told,
      undelivered: this.#undelivered,
      malformed: this.#malformed,
      withoutOwner: this.#withoutOwner,
    };
  }

  async #judge(found: readonly FoundLetter[]): Promise<LetterFate[]> {
    const { filter, isDry } = this.#options;
    const fates: LetterFate[] = found.map(() => 'keep');
    const meant = [...found.entries()].filter(([, each]) => isMeant(each, filter));
    const byRun = new Map<OwnTally, { readonly offer: TaskOffer; readonly index: number }[]>();
    for (let at = 0; at < meant.length && this.#left > 0; ) {
      const some = meant.slice(at, at + Math.min(AT_ONCE, this.#left));
      at += some.length;
      const tallies = await Promise.all(some.map(([, each]) => this.#findRun(each)));
      for (const [i, [index, each]] of some.entries()) {
        const tally = tallies[i];
        if (tally === 'back') {
          this.#left--;
          this.#undelivered++;
          if (!isDry) fates[index] = 'delete';
          continue;
        }
        const offer = this.#offerOf(each, tally);
        if (tally === undefined || offer === undefined) continue;
        this.#left--;
        const group = byRun.get(tally) ?? [];
        group.push({ offer, index });
        byRun.set(tally, group);
      }
    }
    for (const some of partsOf([...byRun], AT_ONCE))
      await Promise.all(
        some.map(async ([tally, group]) => {
          const isTaken = await this.#take(
            tally,
            group.map(({ offer }) => offer),
          );
          if (isTaken) for (const { index } of group) fates[index] = 'delete';
        }),
      );
    return fates;
  }

  /** Returns the run for a letter, `back` if its task waits in its own run again, or nothing if it isn't a letter of a run. */
  async #findRun(each: FoundLetter): Promise<OwnTally | 'back' | undefined> {
    if (await this.#isBack(each)) return 'back';
    return each.letter === undefined || each.run === undefined ? undefined : await this.#runOf(each.run);
  }

  /** Returns the offer for a letter, or nothing if it can't be replayed, which is counted. */
  #offerOf({ letter }: FoundLetter, tally: OwnTally | undefined): TaskOffer | undefined {
    if (letter !== undefined && tally !== undefined && isWithoutOwner(letter, tally.options.joins)) {
      this.#withoutOwner++;
      return undefined;
    }
    const { urlKey, joins } = tally?.options ?? {};
    const offer = letter && tally && offerOfLetter(letter, { rules: this.#options.rules, urlKey, joins });
    if (offer === undefined) this.#malformed++;
    return offer;
  }

  /** Offers the letters of one run, or only counts them if `isDry`. Returns whether they were taken. */
  async #take(tally: OwnTally, offers: readonly TaskOffer[]): Promise<boolean> {
    tally.letters += offers.length;
    for (const offer of offers) tally.ofGroups.add(offer);
    if (this.#options.isDry) return false;
    if (tally.incarnation === undefined) await this.#open(tally);
    return await this.#offer(tally, onceEach(byWhatTheyReplay(offers, (offer) => offer)));
  }

  /** Puts a task that the broker took out of its queue back into its run. Does nothing if its release is over. */
  async #isBack({ run, release }: FoundLetter): Promise<boolean> {
    const { frontier, runs, isDry } = this.#options;
    if (run === undefined || release === undefined || (await runs.progress(run)) === undefined) return false;
    if (!isDry) await frontier.settle(run, release, { outcome: { kind: 'defer' } });
    return true;
  }

  #runOf(origin: string): Promise<OwnTally> {
    const { runs, defaults, overrides } = this.#options;
    let known = this.#runs.get(origin);
    if (known === undefined) {
      const ofNone = { letters: 0, ofGroups: new OwnerCount(origin, this.#owners), accepted: 0, known: 0 };
      known = findReplayRun(origin, runs, defaults, overrides).then((found) => ({ ...found, ...ofNone }));
      this.#runs.set(origin, known);
    }
    return known;
  }

  async #open(tally: ReplayTally): Promise<void> {
    const { run, origin, options, incarnation } = tally;
    const opened = await this.#options.runs.open(run, options, REPLAYER, { incarnation });
    if (opened.how === 'lost') throw lost(run, origin);
    if (opened.how === 'cancelled') throw new RunClosedError(run, 'cancelled');
    tally.incarnation = opened.incarnation;
  }

  /** Leaves out letters that an earlier replay of the same run has taken. */
  async #notReplayed(tally: ReplayTally, offers: readonly TaskOffer[]): Promise<readonly TaskOffer[]> {
    let left = offers;
    for (const run of tally.earlier) {
      const isTaken = await this.#options.marks.ofRun(
        run,
        left.map(({ mark }) => mark),
      );
      left = left.filter((_, i) => isTaken[i] !== true);
    }
    tally.known += offers.length - left.length;
    return left;
  }

  /** Offers letters. Returns `false` if it was stopped while it waited for a full store. */
  async #offer(tally: ReplayTally, all: readonly TaskOffer[]): Promise<boolean> {
    const offers = await this.#notReplayed(tally, all);
    for (const some of partsOf(offers, MAX_OFFER)) if (!(await this.#offerSome(tally, some))) return false;
    return true;
  }

  async #offerSome(tally: ReplayTally, offers: readonly TaskOffer[]): Promise<boolean> {
    const { frontier, runs, clock, signal } = this.#options;
    const { run, isJoined, incarnation } = tally;
    const offer = async (): Promise<OfferResult> => {
      await runs.beat(run, REPLAYER);
      return await frontier.offer(run, offers, { repeat: isJoined, incarnation });
    };
    // If another replay of the same letters has sealed the run and it has ended, it is opened again.
    const answer = await offerUntilTaken(offer, { clock, signal, refused: () => this.#open(tally) });
    if (answer === undefined) return false;
    tally.accepted += answer.accepted;
    tally.known += answer.known;
    return true;
  }
}

function lost(run: string, origin: string): RunLostError {
  return new RunLostError(
    run,
    `letters not taken yet are still there: ${TRAWL} dlq replay. The others: ${TRAWL} records ${origin} --failed`,
  );
}

/** Keeps one offer for each owner. */
function onceEach(offers: readonly TaskOffer[]): readonly TaskOffer[] {
  const owners = new Set(offers.flatMap(({ replayOf, mark }) => (replayOf === 'task' ? mark : [])));
  return offers.filter(({ replayOf, mark }) => {
    if (replayOf !== 'group') return true;
    if (owners.has(mark)) return false;
    owners.add(mark);
    return true;
  });
}
