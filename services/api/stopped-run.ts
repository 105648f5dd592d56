import { openLocalRuns } from '../../shared/backends/embedded.ts';
import { isPath } from '../../shared/crawler/loading/crawler-files.ts';
import type { RunProgress } from '../../shared/ports/runs.ts';
import { ConfigurationError, UsageError } from '../../shared/runtime/errors.ts';
import { TRAWL } from '../../shared/runtime/started-as.ts';
import { SETTINGS, type Settings } from '../../shared/settings/table.ts';
import type { RunPlan } from '../process/run-plan.ts';
import { isInput, otherPlaceOf, planOfStopped } from '../process/stopped-plan.ts';
import { Problem } from './http/problem.ts';
import { OFFERING } from './offers.ts';

/**
 * Plans to crawl on a local run that no process crawls, as `trawl crawl --resume` does with the settings of this process.
 *
 * @param by an offer continues only a run that waits for offers, which was begun over HTTP: the flags of other runs may allow more, private
 * addresses for instance, and only an admin resumes those
 * @returns nothing if an offer doesn't continue it
 * @throws Problem if that takes files that requests over HTTP must not choose, another sink, or a crawler that isn't here as it was
 */
export async function planOfStoppedRun(
  { run, sealed }: RunProgress,
  settings: Settings,
  by: 'offer' | 'resume',
): Promise<RunPlan | undefined> {
  if (by === 'offer' && sealed) return undefined;
  const runs = await openLocalRuns(settings);
  const view = await runs.view(run).finally(() => runs.close());
  const refusal = (why: string): Problem => new Problem('wrong_state', `${why}: ${TRAWL} crawl --resume ${run}`);
  if (view === undefined) throw refusal(`run ${run} can't be resumed here`);
  const { crawler, flags, seeds } = view.beginning;
  if (by === 'offer' && seeds.length > 0) return undefined;
  if (isPath(crawler))
    throw refusal(`run ${run} was begun with the file of a crawler, which only the command line reads`);
  const together = withFlags(settings, flags);
  const place = otherPlaceOf(view, together);
  if (place !== undefined) throw refusal(`run ${run} has its records in ${place}, where this API doesn't store any`);
  // Its crawler may have changed or gone since: nothing is wrong with the request.
  const plan = await planOfStopped(view, together).catch((error: unknown) => {
    throw error instanceof ConfigurationError || error instanceof UsageError
      ? new Problem('wrong_state', error.message)
      : error;
  });
  if (sealed) return plan;
  if (plan.seeds.length === 0) return { ...plan, offeredBy: OFFERING };
  if (plan.seeds.some((seed) => 'path' in seed || isInput(seed)))
    throw refusal(`run ${run} had not read its list to the end, and only the command line reads files`);
  return plan;
}

/** Returns settings changed by the flags that a run was begun with, but for the output folder, in which it was found. */
function withFlags(settings: Settings, flags: Readonly<Record<string, string>>): Settings {
  const changed = Object.entries(SETTINGS).flatMap(([key, { name, parse }]) => {
    const text = flags[name];
    const read = text === undefined ? undefined : parse(text.trim());
    return read !== undefined && 'value' in read ? [[key, read.value]] : [];
  });
  return { ...settings, ...Object.fromEntries(changed), outputDir: settings.outputDir };
}
