import { isMeant, type LetterFilter, readLetter } from '../../shared/control/letters/letter-filter.ts';
import type { LocalLetters, ReplayedTask } from '../../shared/ports/local-letters.ts';
import type { Runs } from '../../shared/ports/runs.ts';
import type { DeadLetterMessage, LetterFate } from '../../shared/ports/transport.ts';
import type { JoinPlan } from '../../shared/task/group/plan.ts';
import type { RoutingRule } from '../../shared/task/task/routing.ts';
import type { UrlKeyRule } from '../../shared/task/url/url-key.ts';
import { byWhatTheyReplay, isWithoutOwner, OwnerCount, offerOfLetter, SeenOwners } from './letter-offers.ts';

interface LocalReplayerOptions {
  readonly letters: Pick<LocalLetters, 'sift' | 'replay'>;
  readonly runs: Runs;
  readonly rules: readonly RoutingRule[];
  readonly filter: LetterFilter;
  /** Maximum letters that are replayed. */
  readonly limit: number;
  /** Whether to report what would happen without doing it. */
  readonly isDry: boolean;
  readonly signal: AbortSignal;
}

/** The counts for the letters of one run. */
export interface LocallyReplayedRun {
  readonly run: string;
  readonly urlKey: readonly UrlKeyRule[] | undefined;
  readonly joins: JoinPlan | undefined;
  letters: number;
  /** See {@link ReplayTally.ofGroups}. */
  readonly ofGroups: OwnerCount;
  /** Letters whose tasks, or the owners of their groups, wait again. */
  accepted: number;
  /** Letters taken before by an interrupted replay or another run; they are deleted. */
  known: number;
  /** Letters whose tasks or groups are in flight at the moment; they stay. */
  inFlight: number;
  /** Why the run takes no letters; they stay. */
  refused?: 'unknown' | 'cancelled';
}

/** The result of a replay. */
export interface LocallyReplayed {
  readonly runs: readonly LocallyReplayedRun[];
  /** Letters that aren't tasks; they stay in the queue. */
  readonly malformed: number;
  /** See {@link ReplayResult.withoutOwner}. */
  readonly withoutOwner: number;
}

/**
 * Puts the tasks of dead letters back into the run in which they failed. One process at a time has a local run to itself, so no new run is
 * needed. The letter is deleted in the same step, so a replay that is killed at any moment and repeated takes each letter once.
 */
export class LocalReplayer {
  readonly #options: LocalReplayerOptions;
  readonly #runs = new Map<string, LocallyReplayedRun>();
  readonly #owners = new SeenOwners();
  #left: number;
  #malformed = 0;
  #withoutOwner = 0;

  constructor(options: LocalReplayerOptions) {
    this.#options = options;
    this.#left = options.limit;
  }

  /** Replays the letters. Call it once. Ends early, after some of the letters, when the signal is aborted. */
  async replay(): Promise<LocallyReplayed> {
    const { letters, signal } = this.#options;
    const enough = new AbortController();
    await letters.sift(
      async (messages) => {
        const fates = await this.#judge(messages);
        if (this.#left === 0) enough.abort();
        return fates;
      },
      AbortSignal.any([signal, enough.signal]),
    );
    return { runs: [...this.#runs.values()], malformed: this.#malformed, withoutOwner: this.#withoutOwner };
  }

  async #judge(messages: readonly DeadLetterMessage[]): Promise<LetterFate[]> {
    const fates: LetterFate[] = messages.map(() => 'keep');
    const byRun = new Map<LocallyReplayedRun, { readonly task: ReplayedTask; readonly index: number }[]>();
    for (const [index, message] of messages.entries()) {
      if (this.#left === 0) break;
      const found = readLetter(message);
      if (!isMeant(found, this.#options.filter)) continue;
      const { letter, run, reason } = found;
      const replayed = run === undefined ? undefined : await this.#runOf(run);
      if (letter !== undefined && isWithoutOwner(letter, replayed?.joins)) {
        this.#withoutOwner++;
        continue;
      }
      const { id } = message;
      const { rules } = this.#options;
      const offer = letter && offerOfLetter(letter, { rules, urlKey: replayed?.urlKey, joins: replayed?.joins });
      const isTask = letter !== undefined && offer !== undefined && reason !== 'undelivered';
      if (!isTask || replayed === undefined || id === undefined) {
        this.#malformed++;
        continue;
      }
      this.#left--;
      replayed.letters++;
      replayed.ofGroups.add(offer);
      const group = byRun.get(replayed) ?? [];
      group.push({ task: { id, reason, offer }, index });
      byRun.set(replayed, group);
    }
    if (this.#options.isDry) return fates;
    for (const [replayed, all] of byRun) {
      const group = byWhatTheyReplay(all, ({ task }) => task.offer);
      const done = await this.#options.letters.replay(
        replayed.run,
        group.map(({ task }) => task),
      );
      if ('refused' in done) {
        replayed.refused = done.refused;
        continue;
      }
      for (const [i, fate] of done.fates.entries()) {
        if (fate === 'taken') replayed.accepted++;
        else replayed[fate]++;
        const at = group[i];
        if (fate === 'known' && at !== undefined) fates[at.index] = 'delete';
      }
    }
    return fates;
  }

  async #runOf(run: string): Promise<LocallyReplayedRun> {
    let replayed = this.#runs.get(run);
    if (replayed === undefined) {
      const progress = await this.#options.runs.progress(run);
      const { urlKey, joins } = progress?.options ?? {};
      const ofGroups = new OwnerCount(run, this.#owners);
      replayed = { run, urlKey, joins, letters: 0, ofGroups, accepted: 0, known: 0, inFlight: 0 };
      if (progress === undefined) replayed.refused = 'unknown';
      else if (progress.state === 'cancelled') replayed.refused = 'cancelled';
      this.#runs.set(run, replayed);
    }
    return replayed;
  }
}
