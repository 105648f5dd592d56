import { LRUCache } from 'lru-cache';
import type { DeadLetter } from '../../shared/ports/dead-letter.ts';
import { groupOf } from '../../shared/task/group/group.ts';
import type { JoinPlan } from '../../shared/task/group/plan.ts';
import { carriedFields } from '../../shared/task/task/form.ts';
import { type OfferRules, offerOf, type TaskOffer } from '../../shared/task/task/offer.ts';
import { isProblem, readUrl } from '../../shared/task/url/url.ts';

/** Maximum owners that {@link SeenOwners} remembers. */
const MOST_OWNERS = 100_000;

/** The rules for turning a letter into a task of a run. */
interface ReplayRules extends OfferRules {
  /** The run's joins. */
  readonly joins?: JoinPlan | undefined;
}

/**
 * Returns the offer for a letter: its task, from the beginning. For a member or a join of a group it is the owner, which is crawled again
 * with its group. Returns nothing if it is not a URL, or if the letter doesn't name the owner of its group.
 */
export function offerOfLetter(letter: DeadLetter, { joins, ...rules }: ReplayRules): TaskOffer | undefined {
  const isGroups = isOfGroup(letter);
  const task = isGroups ? letter.owner : letter;
  const url = readUrl(task?.url ?? '');
  if (task === undefined || isProblem(url)) return undefined;
  const { step, logins } = task;
  const { claimed = task.replayed?.claimed } = isGroups ? (letter.owner ?? {}) : {};
  const isOwner = isGroups || joins?.groups[step] !== undefined;
  return offerOf(
    url,
    { ...rules, logins },
    {
      ...carriedFields(task),
      step,
      ...(isGroups ? { replayed: claimed === undefined ? {} : { claimed } } : {}),
      ...(isOwner ? { replayOf: isGroups ? 'group' : 'task' } : {}),
    },
  );
}

/** Returns whether a letter belongs to a member of a group or a join, whose group and inputs are gone. */
function isOfGroup({ group, join }: DeadLetter): boolean {
  return group !== undefined || join !== undefined;
}

/**
 * Returns whether a letter belongs to a group that can't be crawled again. Letters of older programs don't name the owner, a join of a run
 * has none, and without the joins of its run a group would have no result.
 */
export function isWithoutOwner(letter: DeadLetter, joins: JoinPlan | undefined): boolean {
  if (!isOfGroup(letter)) return false;
  const { owner } = letter;
  return owner === undefined || isProblem(readUrl(owner.url)) || joins?.groups[owner.step] === undefined;
}

/** The owners seen in the letters of a replay, over all runs. An owner that recurs after 100,000 others counts as new again. */
export class SeenOwners {
  /** Shared by all runs: it takes megabytes from the start, so one for each run would fill the memory. */
  readonly #seen = new LRUCache<string, true>({ max: MOST_OWNERS });

  isNew(run: string, owner: string): boolean {
    const key = `${run} ${owner}`;
    const isNew = !this.#seen.has(key);
    this.#seen.set(key, true);
    return isNew;
  }
}

/** Counts a run's letters of groups, and the owners of these groups. */
export class OwnerCount {
  readonly #run: string;
  readonly #seen: SeenOwners;
  letters = 0;
  owners = 0;

  constructor(run: string, seen: SeenOwners) {
    this.#run = run;
    this.#seen = seen;
  }

  add({ replayOf, mark }: TaskOffer): void {
    if (replayOf !== 'group') return;
    this.letters++;
    if (this.#seen.isNew(this.#run, groupOf(mark))) this.owners++;
  }
}

/** Sorts the owners' own letters first: all links of these owners are followed, whatever letters of their groups come with them. */
export function byWhatTheyReplay<T>(all: readonly T[], offerOf: (each: T) => TaskOffer): readonly T[] {
  const isGroups = (each: T): boolean => offerOf(each).replayOf === 'group';
  return [...all.filter((each) => !isGroups(each)), ...all.filter(isGroups)];
}
