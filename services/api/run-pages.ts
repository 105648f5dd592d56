import { z } from 'zod';
import type { RunOverview } from '../../shared/ports/run-overview.ts';
import type { RunState, Runs } from '../../shared/ports/runs.ts';
import { PageCursor } from './http/page-cursor.ts';

/** Runs whose state is read for one page. */
const MOST_ASKED = 2_000;
/** Runs whose names are read for one page, about a megabyte. */
const MOST_NAMES = 50_000;
/** States read at once. */
const AT_ONCE = 100;
/** The furthest place that a cursor can name. */
const LAST_PLACE = 1_000_000;

/** The last run of a page, after the number of runs in front of it. */
const places = new PageCursor(z.tuple([z.int().min(0).max(LAST_PLACE), z.string()]));

interface RunPageQuery {
  readonly state: RunState | undefined;
  /** Text that the run's id must contain. */
  readonly contains: string | undefined;
  /** `next` of the previous page; undefined for the first. */
  readonly cursor: string | undefined;
  readonly limit: number;
}

/**
 * Returns one page of the runs, newest first, and a cursor for the next. Runs that begin in between shift nothing: each run that still
 * exists is on exactly one page. A page can have fewer than `limit` runs, even none, and still be followed by another.
 */
export async function pageOfRuns(
  runs: Pick<Runs & RunOverview, 'list' | 'standing'>,
  { state, contains = '', cursor, limit }: RunPageQuery,
): Promise<{ readonly page: readonly string[]; readonly next: string | null }> {
  const [before, last] = cursor === undefined ? [0, undefined] : places.read(cursor);
  // One more than needed, to know whether another page follows.
  const ids = await runs.list(before + MOST_NAMES + 1);
  const found = last === undefined ? -1 : ids.indexOf(last, before);
  // If that run has been forgotten in the meantime, the next one has moved into its place.
  let at = found < 0 ? before : found + 1;
  const end = Math.min(ids.length, at + MOST_NAMES);
  const page: string[] = [];
  for (let asked = 0; at < end && page.length < limit && asked < MOST_ASKED; ) {
    const some = ids.slice(at, Math.min(end, at + AT_ONCE));
    const states = await Promise.all(
      some.map(async (run) => {
        if (!run.includes(contains)) return undefined;
        asked += state === undefined ? 0 : 1;
        return state === undefined ? 'any' : (await runs.standing(run))?.state;
      }),
    );
    for (let nth = 0; nth < some.length && page.length < limit; nth++, at++) {
      const run = some[nth];
      const its = states[nth];
      if (run !== undefined && its !== undefined && (its === 'any' || its === state)) page.push(run);
    }
  }
  const ended = ids[at - 1];
  return { page, next: at < ids.length && ended !== undefined ? places.written([at - 1, ended]) : null };
}
