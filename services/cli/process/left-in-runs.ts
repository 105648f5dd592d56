import { hasLocalRuns, openLocalStores } from '../../../shared/backends/embedded.ts';
import { counted } from '../../../shared/control/format.ts';
import type { RunOptions } from '../../../shared/ports/runs.ts';
import { TRAWL } from '../../../shared/runtime/started-as.ts';
import type { Context } from '../command.ts';
import { say } from '../text/output.ts';
import { folderFlag, resumeRunCommand } from './place-flags.ts';

/** Maximum number of open runs checked, newest first. */
const MOST_RUNS = 200;

/**
 * Warns of URLs that a crawl with shared marks leaves out although they were never fetched: they wait in runs that were stopped.
 * Without the warning, a nightly cron job would leave them out each time and only report that there is nothing new.
 */
export async function warnOfLeftInRuns({ dedup }: Pick<RunOptions, 'dedup'>, context: Context): Promise<void> {
  if (dedup !== 'ever' || !hasLocalRuns(context.settings)) return;
  const left: { run: string; urls: number }[] = [];
  const stores = await openLocalStores(context.settings);
  try {
    for (const id of await stores.runs.listOpen(MOST_RUNS)) {
      const progress = await stores.runs.progress(id);
      if (progress?.stoppedAt === undefined || progress.options.dedup !== 'ever') continue;
      const urls = progress.waiting + progress.inFlight;
      if (urls > 0) left.push({ run: id, urls });
    }
  } finally {
    stores.close();
  }
  const [newest, ...others] = left;
  if (newest === undefined) return;
  const urls = left.reduce((sum, each) => sum + each.urls, 0);
  const more = others.length === 0 ? '' : `, and ${counted(others.length, 'other')}`;
  say(
    {
      text: `Left out as known, though not crawled: ${counted(urls, 'URL')} of stopped runs (${newest.run}${more})`,
      mark: 'warning',
    },
    `Crawl them with: ${resumeRunCommand(newest.run, context)}`,
    `Or have later crawls take them: ${TRAWL} cancel ${newest.run}${folderFlag(context)}`,
  );
}
