import type { LocallyReplayed } from '../producer/local-replayer.ts';
import type { ReplayResult, ReplayTally } from '../producer/replayer.ts';

/** Returns the output of `dlq replay`. */
export function replayJson({ runs, undelivered, malformed, withoutOwner }: ReplayResult, dryRun: boolean): object {
  return {
    run: runs.length === 1 ? runs[0]?.run : null,
    runs: runs.map(({ run, origin, options, isJoined, isForgotten, letters, ofGroups, accepted, known }) => {
      const counts = { letters, ...groupCounts(ofGroups), accepted, known };
      return { run, origin, ...counts, joined: isJoined, originForgotten: isForgotten, options };
    }),
    letters: runs.reduce((sum, { letters }) => sum + letters, 0),
    ...(undelivered === 0 ? {} : { undelivered }),
    malformed,
    ...(withoutOwner === 0 ? {} : { withoutOwner }),
    dryRun,
  };
}

/**
 * Returns the output of `dlq replay` for local crawls.
 *
 * @param goOn returns the command that resumes a run, or nothing if the run is being crawled
 */
export function localReplayJson(
  { runs, malformed, withoutOwner }: LocallyReplayed,
  dryRun: boolean,
  goOn: (run: string) => string | undefined,
): object {
  const told = runs.filter(({ letters }) => letters > 0);
  return {
    runs: told.map(({ run, letters, ofGroups, accepted, known, inFlight, refused = null }) => {
      const resume = dryRun || accepted === 0 ? null : (goOn(run) ?? null);
      return { run, letters, ...groupCounts(ofGroups), accepted, known, inFlight, refused, resume };
    }),
    letters: told.reduce((sum, { letters }) => sum + letters, 0),
    malformed,
    ...(withoutOwner === 0 ? {} : { withoutOwner }),
    dryRun,
  };
}

function groupCounts({ letters, owners }: ReplayTally['ofGroups']): object {
  return letters === 0 ? {} : { ofGroups: letters, owners };
}
