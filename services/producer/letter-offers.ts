import { LRUCache } from 'lru-cache';
import type { DeadLetter } from '../../shared/ports/dead-letter.ts';
import { groupOf } from '../../shared/task/group/group.ts';
import type { JoinPlan } from '../../shared/task/group/plan.ts';
import { carriedFields } from '../../shared/task/task/form.ts';
import { type OfferRules, offerOf, type TaskOffer } from '../../shared/task/task/offer.ts';
import { isProblem, readUrl } from '../../shared/task/url/url.ts';

/** Owners that are told apart by {@link SeenOwners}. */
const MOST_OWNERS = 100_000;

/** What turns a letter into a task of a run. */
interface ReplayRules extends OfferRules {
  /** The run's joins. */
  readonly joins?: JoinPlan | undefined;
}

/**
 * What is offered for a letter: its task, from the beginning; for a member or a join of a group, its owner, which is crawled
 * once more with its group. Nothing if it is no URL, or if the letter doesn't say whose group it is.
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

/** Is it of a member of a group, or of a join? Its group is gone, and its inputs with it. */
function isOfGroup({ group, join }: DeadLetter): boolean {
  return group !== undefined || join !== undefined;
}

/**
 * Is it of a group that can't be crawled once more? Letters of older programs don't name the owner, a join of a run has none, and
 * in a run without its joins nothing would come of it.
 */
export function isWithoutOwner(letter: DeadLetter, joins: JoinPlan | undefined): boolean {
  if (!isOfGroup(letter)) return false;
  const { owner } = letter;
  return owner === undefined || isProblem(readUrl(owner.url)) || joins?.groups[owner.step] === undefined;
}

/** The owners that the letters of a replay are of, whichever run's. One that comes again after 100,000 others is new again. */
export class SeenOwners {
  /** It takes megabytes from the first: each run's own would fill the memory. */
  readonly #seen = new LRUCache<string, true>({ max: MOST_OWNERS });

  isNew(run: string, owner: string): boolean {
    const key = `${run} ${owner}`;
    const isNew = !this.#seen.has(key);
    this.#seen.set(key, true);
    return isNew;
  }
}

/** How many letters of a run are of groups, and of how many owners. */
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

/** Owners' own letters first: these have all their links followed, whichever of their groups' letters come with them. */
export function byWhatTheyReplay<T>(all: readonly T[], offerOf: (each: T) => TaskOffer): readonly T[] {
  const isGroups = (each: T): boolean => offerOf(each).replayOf === 'group';
  return [...all.filter((each) => !isGroups(each)), ...all.filter(isGroups)];
}
