import { z } from 'zod';
import type { RunOverview } from '../../shared/ports/run-overview.ts';
import type { RunState, Runs } from '../../shared/ports/runs.ts';
import { PageCursor } from './http/page-cursor.ts';

/** Runs whose state is asked for one page. */
const MOST_ASKED = 2_000;
/** Runs whose names are looked at for one page: a megabyte of them. */
const MOST_NAMES = 50_000;
/** States asked at once. */
const AT_ONCE = 100;
/** No list is gone through further. */
const LAST_PLACE = 1_000_000;

/** The run that a page ended with, and how many were in front of it. */
const places = new PageCursor(z.tuple([z.int().min(0).max(LAST_PLACE), z.string()]));

interface RunPageQuery {
  readonly state: RunState | undefined;
  /** Part of the names of the runs that are meant. */
  readonly contains: string | undefined;
  /** `next` of the page before; the first page without one. */
  readonly cursor: string | undefined;
  readonly limit: number;
}

/**
 * One page of the runs, newest first, and where the next one begins. Runs that begin between two pages shift none: each that stays is on
 * exactly one page. A page may have fewer than `limit`, or none, and still be followed by another.
 */
export async function pageOfRuns(
  runs: Pick<Runs & RunOverview, 'list' | 'standing'>,
  { state, contains = '', cursor, limit }: RunPageQuery,
): Promise<{ readonly page: readonly string[]; readonly next: string | null }> {
  const [before, last] = cursor === undefined ? [0, undefined] : places.read(cursor);
  // One more says whether there are any.
  const ids = await runs.list(before + MOST_NAMES + 1);
  const found = last === undefined ? -1 : ids.indexOf(last, before);
  // One that was forgotten meanwhile has left its place to the next one.
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
