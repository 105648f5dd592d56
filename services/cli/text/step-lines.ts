import { count, counted } from '../../../shared/control/format.ts';
import type { LiveWorker } from '../../../shared/ports/roster.ts';
import type { RunProgress } from '../../../shared/ports/runs.ts';
import type { Line } from './output.ts';
import { table } from './table.ts';

/** Maximum number of failure places named. */
const MOST_FAILURES = 5;

/** A run's progress by step, if its crawler has several. Tasks that no other step accounts for belong to the first. */
export function stepLines(progress: RunProgress): string[] {
  const { steps, openGroups = 0 } = progress;
  if (steps === undefined) return [];
  const others = Object.values(steps);
  const restOf = (name: 'discovered' | 'done' | 'skipped' | 'failed'): number =>
    progress[name] - others.reduce((sum, each) => sum + each[name], 0);
  const [discovered, done] = [restOf('discovered'), restOf('done')];
  const first = { discovered, done, skipped: restOf('skipped'), failed: restOf('failed') };
  const ofFirst = discovered === 0 ? [] : [['(first)', first] as const];
  const rows = [...ofFirst, ...Object.entries(steps)].map(([name, each]) => [
    `  ${name}`,
    `${count(each.done)} of ${count(each.discovered)} done`,
    each.skipped > 0 ? `${count(each.skipped)} skipped` : '',
    each.failed > 0 ? `${count(each.failed)} failed` : '',
  ]);
  const groups =
    openGroups === 0 ? [] : [`Groups: ${count(openGroups)} open; their joins wait for more of their pages`];
  return ['Steps:', ...table(rows), ...groups];
}

/** The places in the code where steps failed on the most pages. */
export function stepFailureLines({ stepFailures: failures = [] }: Pick<RunProgress, 'stepFailures'>): Line[] {
  const lines = failures
    .slice(0, MOST_FAILURES)
    .map(({ pages, error }): Line => ({ text: `  ${counted(pages, 'page')}: ${error}`, colour: 'red' }));
  const others = failures.length - MOST_FAILURES;
  return others > 0 ? [...lines, `  … and ${counted(others, 'other place')}`] : lines;
}

/** A warning if no live worker has the crawler of an open run, or the crawler's secrets. */
export function missingCrawlerLines(
  { run, options: { crawler }, endedAt }: RunProgress,
  workers: readonly LiveWorker[],
): Line[] {
  const told = workers.flatMap(({ crawlers }) => (crawlers === undefined ? [] : [crawlers]));
  // Workers of earlier versions don't report their crawlers.
  const isKnown = told.length === workers.length && told.length > 0;
  if (endedAt !== undefined || !isKnown || told.some((each) => Object.hasOwn(each, crawler))) return [];
  const lacking = [...new Set(workers.flatMap((worker) => worker.lacking?.[crawler] ?? []))].sort();
  const text =
    lacking.length === 0
      ? `No worker has crawler ${crawler}: run ${run} waits for one that has it`
      : `No worker has the secrets of crawler ${crawler}: run ${run} waits for one with ${lacking.join(', ')} in its environment`;
  return [{ text, mark: 'warning' }];
}
