import type { Offer, OfferOptions } from '../ports/frontier/frontier.ts';
import { groupOf, groupOfMark } from '../task/group/group.ts';

/**
 * Members of a group come from its owner or from another member, and those of one offer are of one group.
 *
 * @throws RangeError otherwise
 */
export function expectOwnGroup(tasks: readonly Offer[], { parent }: Pick<OfferOptions, 'parent'>): void {
  let own: string | undefined;
  for (const task of tasks) {
    if ('malformed' in task || !task.mark.includes(' @')) continue;
    own ??= parent === undefined ? '' : (groupOfMark(parent.mark) ?? groupOf(parent.mark));
    if (groupOfMark(task.mark) !== own) throw new RangeError(`${task.mark} is of another group than its parent`);
  }
}
