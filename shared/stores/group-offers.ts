import type { Offer, OfferOptions } from '../ports/frontier/frontier.ts';
import { groupOf, groupOfMark } from '../task/group/group.ts';

/**
 * Checks that members of a group are offered by its owner or by another member, and that all members in one offer belong to one group.
 *
 * @throws RangeError if not
 */
export function expectOwnGroup(tasks: readonly Offer[], { parent }: Pick<OfferOptions, 'parent'>): void {
  let own: string | undefined;
  for (const task of tasks) {
    if ('malformed' in task || !task.mark.includes(' @')) continue;
    own ??= parent === undefined ? '' : (groupOfMark(parent.mark) ?? groupOf(parent.mark));
    if (groupOfMark(task.mark) !== own) throw new RangeError(`${task.mark} belongs to another group than its parent`);
  }
}
