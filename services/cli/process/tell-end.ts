import { summaryJson } from '../../../shared/control/summary-json.ts';
import type { RunProgress } from '../../../shared/ports/runs.ts';
import type { Context } from '../command.ts';
import { print, printJson, say } from '../text/output.ts';
import { endingLine, type SummaryOptions, summaryLines } from '../text/summary.ts';

/**
 * Prints how a run ended: a summary on standard output, or with `--json` a document there and a sentence on standard error.
 *
 * @param isStandardOutputTaken by a table, so the summary goes to standard error
 */
export function tellEnd(
  progress: RunProgress,
  { json, telling }: Context,
  options: SummaryOptions,
  isStandardOutputTaken = false,
): void {
  if (json) printJson(summaryJson(progress, options));
  if (telling === 'nothing') return;
  if (json) say(endingLine(progress, options));
  else if (isStandardOutputTaken) say(...summaryLines(progress, options));
  else print(summaryLines(progress, options));
}
