import type { LinkTally, ReleaseName } from '../../../../shared/ports/frontier/frontier.ts';

/** What a worker knows of one admission of a page, whatever the store has lost since. */
export interface ModelVisit {
  readonly run: string;
  readonly name: ReleaseName;
  readonly tally: LinkTally;
  /** Its offers that were answered, each named by the tally before it. */
  readonly offers: readonly string[];
}

/** Where workers have their visits. */
interface Visits {
  visits: readonly ModelVisit[];
  /** How many stamps were drawn. */
  stamps: number;
}

/** A worker's visit of a release, if there is one: mostly the last, or one from before it was taken over. */
export function findVisit(world: Visits, run: string, name: ReleaseName, which: number): ModelVisit | undefined {
  const visits = world.visits.filter(
    (visit) => visit.run === run && visit.name.release === name.release && visit.name.mark === name.mark,
  );
  const earlier = which % 7 === 0 ? visits.at(-2) : undefined;
  return earlier ?? visits.at(-1);
}

/** A worker begins with a page, under a stamp that no other has. */
export function beginVisit(world: Visits, run: string, name: ReleaseName): ModelVisit {
  const visit = { run, name, tally: { stamp: `s${++world.stamps}`, links: 0 }, offers: [] };
  world.visits = [...world.visits, visit];
  return visit;
}

/** The run has answered an offer of `links` more links. */
export function countOffer(world: Visits, visit: ModelVisit, links: number): void {
  const { stamp, links: before } = visit.tally;
  const offers = [...visit.offers, offerName(visit.tally)];
  const after = { ...visit, tally: { stamp, links: before + links }, offers };
  world.visits = world.visits.map((each) => (each === visit ? after : each));
}

/** An offer that is sent again has the same name. */
export function offerName({ stamp, links }: LinkTally): string {
  return `${stamp} after ${links}`;
}

/** The worker is done with it. */
export function endVisit(world: Visits, visit: ModelVisit): void {
  world.visits = world.visits.filter((each) => each !== visit);
}
