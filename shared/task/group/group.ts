import { hash } from 'node:crypto';

/** The pseudo host at which joins wait. A URL of such a host is refused: see `isOfJoins` of `url.ts`. */
export const JOIN_HOST = '(joins)';

/** Stands in place of a group id for a join of the whole run. */
export const OF_RUN = 'run';

/** Hex digits of a group id: 96 bits, enough that a million groups in one run don't collide. */
export const GROUP_LENGTH = 24;

/**
 * Computes the id of an owner's group from the owner's mark. SHA-1, because Redis scripts have no other hash. Two owners that are made
 * to collide on purpose would share a group in their own run, and harm no other run.
 */
export function groupOf(ownerMark: string): string {
  return hash('sha1', ownerMark).slice(0, GROUP_LENGTH);
}

/** Returns the group in a mark; nothing if its task belongs to none. */
export function groupOfMark(mark: string): string | undefined {
  const at = mark.lastIndexOf(' @');
  return at < 0 ? undefined : mark.slice(at + 2);
}

/** Makes the mark of a join's task. It can't be the mark of a page, since no URL begins with `@`. */
export function joinMark(join: string, group: string = OF_RUN): string {
  return `${join} @${group}`;
}
