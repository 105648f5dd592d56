import type { LinkTally, ReleaseName } from '../../../../shared/ports/frontier/frontier.ts';

/** A worker's view of one admission of a page, whatever the store has lost since. */
export interface ModelVisit {
  readonly run: string;
  readonly name: ReleaseName;
  readonly tally: LinkTally;
  /** The offers that were answered, each named by the tally before it. */
  readonly offers: readonly string[];
}

/** The visits of all workers. */
interface Visits {
  visits: readonly ModelVisit[];
  /** Number of stamps used so far. */
  stamps: number;
}

/** Finds a visit of a release: usually the last one, sometimes the one before it was taken over. */
export function findVisit(world: Visits, run: string, name: ReleaseName, which: number): ModelVisit | undefined {
  const visits = world.visits.filter(
    (visit) => visit.run === run && visit.name.release === name.release && visit.name.mark === name.mark,
  );
  const earlier = which % 7 === 0 ? visits.at(-2) : undefined;
  return earlier ?? visits.at(-1);
}

/** Begins a visit of a page with a unique stamp. */
export function beginVisit(world: Visits, run: string, name: ReleaseName): ModelVisit {
  const visit = { run, name, tally: { stamp: `s${++world.stamps}`, links: 0 }, offers: [] };
  world.visits = [...world.visits, visit];
  return visit;
}

/** Records that an offer of `links` more links was answered. */
export function countOffer(world: Visits, visit: ModelVisit, links: number): void {
  const { stamp, links: before } = visit.tally;
  const offers = [...visit.offers, offerName(visit.tally)];
  const after = { ...visit, tally: { stamp, links: before + links }, offers };
  world.visits = world.visits.map((each) => (each === visit ? after : each));
}

/** Returns the name of an offer, which is the same when the offer is sent again. */
export function offerName({ stamp, links }: LinkTally): string {
  return `${stamp} after ${links}`;
}

/** Ends a visit. */
export function endVisit(world: Visits, visit: ModelVisit): void {
  world.visits = world.visits.filter((each) => each !== visit);
}
