import { summaryJson } from '../../../shared/control/summary-json.ts';
import type { RunProgress } from '../../../shared/ports/runs.ts';
import type { Context } from '../command.ts';
import { print, printJson, say } from '../text/output.ts';
import { endingLine, type SummaryOptions, summaryLines } from '../text/summary.ts';
import { folderFlag } from './plan-crawl.ts';

/**
 * Tells how a run ended: the summary on standard output; for a script JSON there, and a sentence on standard error.
 *
 * @param isStandardOutputTaken by something else: the summary goes to standard error
 */
export function tellEnd(
  progress: RunProgress,
  { json, telling, flags }: Context,
  told: SummaryOptions,
  isStandardOutputTaken = false,
): void {
  const options = { ...told, recordsFlag: folderFlag({ flags }) };
  if (json) printJson(summaryJson(progress, options));
  if (telling === 'nothing') return;
  if (json) say(endingLine(progress, options));
  else if (isStandardOutputTaken) say(...summaryLines(progress, options));
  else print(summaryLines(progress, options));
}
