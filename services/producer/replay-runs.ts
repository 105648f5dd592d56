import type { RunOptions, RunProgress, Runs } from '../../shared/ports/runs.ts';
import { withoutRunJoins } from '../../shared/task/group/without-run-joins.ts';
import { fingerprintOf } from '../../shared/task/url/fingerprint.ts';

/** The run that another run's letters are replayed to. */
export interface ReplayRun {
  readonly run: string;
  /** The run that the letters come from. */
  readonly origin: string;
  readonly options: RunOptions;
  /** Sealed replays of the origin; letters they took are not taken again. */
  readonly earlier: readonly string[];
  /** Whether an interrupted replay began it, and this one resumes it. */
  readonly isJoined: boolean;
  /** Whether the store has forgotten the origin, so that the options are this process's own. */
  readonly isForgotten: boolean;
}

const LONGEST_ID = 63;

/** Returns the id of a run's replay, such as `mine-replay-2` for the second one. */
export function replayIdOf(origin: string, number: number): string {
  const suffix = `-replay-${number}`;
  if (origin.length + suffix.length <= LONGEST_ID) return origin + suffix;
  // The digest keeps long ids apart that differ only in the part cut off.
  const digest = fingerprintOf(origin).slice(0, 8);
  return `${origin.slice(0, LONGEST_ID - suffix.length - 9)}-${digest}${suffix}`;
}

/**
 * Finds the run that a replay of `origin` offers to. No state needs to be stored for that: the replays of a run are numbered, and each is
 * sealed when all its letters are offered. The first one that is not sealed was therefore interrupted, and takes the rest. If there is none,
 * the first unknown number becomes a new run.
 *
 * | `…-replay-n` is            | then                                       |
 * |----------------------------|--------------------------------------------|
 * | unknown                    | it is the new run                          |
 * | open and not sealed        | an interrupted replay: joined              |
 * | sealed, finished, cancelled | the next number                           |
 */
export async function findReplayRun(
  origin: string,
  runs: Runs,
  defaults: RunOptions,
  overrides: Partial<RunOptions>,
): Promise<ReplayRun> {
  const known = await runs.progress(origin);
  const earlier: string[] = [];
  for (let number = 1; ; number++) {
    const run = replayIdOf(origin, number);
    const progress = await runs.progress(run);
    if (progress !== undefined && !isInterrupted(progress)) {
      earlier.push(run);
      continue;
    }
    // The version is left out: crawlers are usually fixed before their letters are replayed.
    const { version: _, ...own } = known?.options ?? defaults;
    const options = progress?.options ?? withoutRunJoins({ ...own, ...overrides });
    return { run, origin, options, earlier, isJoined: progress !== undefined, isForgotten: known === undefined };
  }
}

function isInterrupted({ state, sealed }: RunProgress): boolean {
  return !sealed && (state === 'running' || state === 'paused');
}
