import type { Forgettable, Forgotten, HowToForget, Marks } from '../../ports/marks.ts';
import type { RunOverview } from '../../ports/run-overview.ts';
import type { Runs } from '../../ports/runs.ts';
import { marksOfUrl } from '../urls/url-marks.ts';

/** The marks to drop: those of a URL (or of a text refused as malformed), of a politeness key, or all. */
export type ForgetWhat = { readonly url: string } | { readonly host: string } | 'all';

/** Counts of dropped marks, and the selected URL without its credentials, or the selected host. */
export interface ForgottenMarks {
  readonly total: Forgotten & { readonly dryRun?: true };
  readonly meant: string | undefined;
}

/** Drops marks, so that their URLs can be taken again. A dry run only counts them. */
export async function forgetMarks(
  what: ForgetWhat,
  { marks, runs }: { readonly marks: Marks; readonly runs: Runs & RunOverview },
  how: HowToForget = {},
): Promise<ForgottenMarks> {
  // A run with its own rules for comparing URLs has a different mark for this URL.
  const of = what !== 'all' && 'url' in what ? await marksOfUrl(what.url, await allOf(runs), runs) : undefined;
  const host = what !== 'all' && 'host' in what ? what : undefined;
  const all: readonly Forgettable[] = of === undefined ? [host ?? 'all'] : of.all.map((mark) => ({ mark }));
  let [forgotten, kept, letters] = [0, 0, 0];
  for (const which of all) {
    const done = await marks.forget(which, how);
    forgotten += done.forgotten;
    kept += done.kept;
    letters += done.letters ?? 0;
  }
  const dry = how.isDry === true ? ({ dryRun: true } as const) : {};
  return { total: { forgotten, kept, ...(letters === 0 ? {} : { letters }), ...dry }, meant: of?.plain ?? host?.host };
}

async function allOf(runs: RunOverview): Promise<readonly string[]> {
  return await runs.list((await runs.counts()).known);
}
