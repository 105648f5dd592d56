import { hash } from 'node:crypto';

/** The pseudo host at which joins wait. A URL of such a host is refused: see `isOfJoins` of `url.ts`. */
export const JOIN_HOST = '(joins)';

/** In the place of a group's id: the join is one of the run. */
export const OF_RUN = 'run';

/** Hex digits of a group's id: 96 bits, so that a million groups of a run don't collide. */
export const GROUP_LENGTH = 24;

/**
 * The id of an owner's group, from its mark. By SHA-1, as that is the hash that Redis' scripts have: two owners made to collide
 * on purpose would share a group of their own run, and harm nobody else.
 */
export function groupOf(ownerMark: string): string {
  return hash('sha1', ownerMark).slice(0, GROUP_LENGTH);
}

/** The group that a mark carries; nothing if its task is in none. */
export function groupOfMark(mark: string): string | undefined {
  const at = mark.lastIndexOf(' @');
  return at < 0 ? undefined : mark.slice(at + 2);
}

/** The mark of a join's task: no URL begins with `@`. */
export function joinMark(join: string, group: string = OF_RUN): string {
  return `${join} @${group}`;
}
