import { counted } from '../../../shared/control/format.ts';
import type { ReplayResult, ReplayTally } from '../../producer/replayer.ts';

/** The line about letters of groups and their owners; none if there are no such letters. */
export function ofOwners({ letters, owners }: ReplayTally['ofGroups'], dryRun: boolean): string[] {
  if (letters === 0) return [];
  const what = owners === 1 ? 'it' : 'each';
  const does = dryRun ? 'would be' : 'is';
  return [
    `  ${counted(letters, 'letter')} of ${counted(owners, 'owner')}: ${what} ${does} crawled again, with its group`,
  ];
}

/** The result of a replay: a line for each run, and the letters that stay. @param list the command that lists letters */
export function replayedLines(
  runs: readonly string[],
  {
    undelivered = 0,
    malformed,
    withoutOwner,
  }: Pick<ReplayResult, 'malformed' | 'withoutOwner'> & Partial<Pick<ReplayResult, 'undelivered'>>,
  list: string,
  dryRun: boolean,
): string[] {
  const lines = runs.length + undelivered === 0 ? ['No dead letters to replay.'] : [...runs];
  if (undelivered > 0) {
    const again = dryRun ? 'would wait in their own runs again' : 'wait in their own runs again';
    lines.push(
      `${counted(undelivered, 'letter')} of tasks that a RabbitMQ policy removed from a queue: those not crawled since ${again}`,
    );
  }
  if (malformed > 0)
    lines.push(
      `${counted(malformed, 'malformed letter')} can't be replayed and will stay (${list} --reason malformed)`,
    );
  if (withoutOwner > 0)
    lines.push(
      `${counted(withoutOwner, 'letter')} of groups or joins can't be replayed and will stay: a join needs all pages of its group. Crawl the owners' URLs again in a new run (with --fresh in a fleet)`,
    );
  if (dryRun) lines.push('Nothing was changed.');
  return lines;
}
