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
  /** The most letters that are replayed. */
  readonly limit: number;
  /** For letters of runs that the store has forgotten. */
  readonly defaults: RunOptions;
  /** Options that differ from the origin's. */
  readonly overrides: Partial<RunOptions>;
  /** Only says what would happen. */
  readonly isDry: boolean;
  readonly signal: AbortSignal;
}

/** What became of the letters of one run. */
export interface ReplayTally extends ReplayRun {
  /** Which one of the runs of that name it opened; left out where nothing was. */
  incarnation?: string;
  letters: number;
  /** Those of groups: their owners are offered, each once. */
  readonly ofGroups: Readonly<Pick<OwnerCount, 'letters' | 'owners'>>;
  /** Taken by the frontier, as tasks of the replay run. */
  accepted: number;
  /** Taken before: by an interrupted replay, or by a later run that found the URL again. */
  known: number;
}

type OwnTally = ReplayTally & { readonly ofGroups: OwnerCount };

/** Letters looked at, and runs offered to, at once: each asks the store several times, one after the other. */
const AT_ONCE = 32;

/** What a replay came to. */
export interface ReplayResult {
  readonly runs: readonly ReplayTally[];
  /** Letters of tasks that the broker took out of their queue: these wait in their own runs again. */
  readonly undelivered: number;
  /** Letters that aren't tasks; they stay in the queue. */
  readonly malformed: number;
  /** Of members of groups, and of joins, that don't say whose: alone, they would come to nothing. They stay in the queue. */
  readonly withoutOwner: number;
}

/**
 * Offers dead letters again, as new runs with the options of those that they come from.
 *
 * Each letter is taken by the frontier before it leaves `failed_urls`; killed between the two, the letter is still there,
 * and a repeat offers it to the same run, which knows it. For letters of a group its owner is offered once, past its mark. See
 * {@link findReplayRun} for how the repeat finds that run. A
 * letter that the broker gives back only after that run was sealed is known by its mark. So no letter is lost, and none
 * is worked twice. A task that the broker took out of its queue has not failed: it waits in its own run again, unless it came back
 * by its lease before; only if the store has forgotten that run is it offered as the others are.
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
   * Call it once. Ends early when the signal is aborted, and leaves its runs open so that a repeat can resume them.
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

  /** `back`: its task waits in its own run again. Nothing for what is no letter of a run. */
  async #findRun(each: FoundLetter): Promise<OwnTally | 'back' | undefined> {
    if (await this.#isBack(each)) return 'back';
    return each.letter === undefined || each.run === undefined ? undefined : await this.#runOf(each.run);
  }

  /** Nothing for a letter that can't be replayed, which is counted. */
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

  /** Offers the letters of one run; with `isDry`, only counts them. `true`: they are taken. */
  async #take(tally: OwnTally, offers: readonly TaskOffer[]): Promise<boolean> {
    tally.letters += offers.length;
    for (const offer of offers) tally.ofGroups.add(offer);
    if (this.#options.isDry) return false;
    if (tally.incarnation === undefined) await this.#open(tally);
    return await this.#offer(tally, onceEach(byWhatTheyReplay(offers, (offer) => offer)));
  }

  /** Lets a task wait in its run again that the broker took out of its queue. Does nothing for one whose release is over. */
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

  /** Leaves out what an earlier replay of the same run has taken. */
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

  /** `false`: it was stopped while it waited for a full store. */
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
    // Another replay of the same letters has sealed the run, and it has ended: it is opened again.
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

/** Letters of one owner offer it once. */
function onceEach(offers: readonly TaskOffer[]): readonly TaskOffer[] {
  const owners = new Set(offers.flatMap(({ replayOf, mark }) => (replayOf === 'task' ? mark : [])));
  return offers.filter(({ replayOf, mark }) => {
    if (replayOf !== 'group') return true;
    if (owners.has(mark)) return false;
    owners.add(mark);
    return true;
  });
}
