import { counted } from '../../../shared/control/format.ts';
import type { ReplayTally } from '../../producer/replayer.ts';

/** Of how many owners the letters of groups are; nothing where none are. */
export function ofOwners({ letters, owners }: ReplayTally['ofGroups'], dryRun: boolean): string[] {
  if (letters === 0) return [];
  const what = owners === 1 ? 'it' : 'each';
  const does = dryRun ? 'would be' : 'is';
  return [
    `  ${counted(letters, 'letter')} of ${counted(owners, 'owner')}: ${what} ${does} crawled again, with its group`,
  ];
}

/** Says so if letters were not replayed since their group can't be crawled again. */
export function withoutOwnerLines(letters: number): string[] {
  if (letters === 0) return [];
  return [
    `${counted(letters, 'letter')} of groups or joins can't be replayed and will stay: a join needs all pages of its group. Crawl the owners' URLs again in a new run (with --fresh in a fleet)`,
  ];
}
