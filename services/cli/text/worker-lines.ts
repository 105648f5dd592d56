import { duration } from '../../../shared/control/format.ts';
import { lackingSecrets } from '../../../shared/control/workers/lacking-secrets.ts';
import type { LiveWorker } from '../../../shared/ports/roster.ts';
import { WORK_COMMAND } from '../../../shared/runtime/started-as.ts';
import type { Line } from './output.ts';
import { table } from './table.ts';

/** The live workers, one line each. */
export function workerLines(workers: readonly LiveWorker[], isLocal: boolean): Line[] {
  // For a local crawl without a process, another line says how to resume it.
  if (workers.length === 0) return isLocal ? [] : [`Workers: none is running (${WORK_COMMAND})`];
  const rows = workers.map(({ id, state, inHand, slots, bound }) => [
    `  ${id}`,
    state,
    `${inHand} of ${slots} in hand`,
    `bound by ${bound}`,
  ]);
  return [
    `Workers: ${workers.length}`,
    ...table(rows),
    ...lackingSecrets(workers).map((text): Line => ({ text, mark: 'warning' })),
  ];
}

/** Maximum number of tasks shown, of all workers together. */
const MOST_TASKS = 20;

/** The tasks that workers have had in hand longest, one line each. */
export function taskLines(workers: readonly LiveWorker[]): string[] {
  const all = workers.flatMap(({ id, tasks = [] }) => tasks.map((task) => ({ id, ...task })));
  if (all.length === 0) return [];
  const longest = all.toSorted((a, b) => b.forMs - a.forMs).slice(0, MOST_TASKS);
  const rows = longest.map(({ id, run, url, step, forMs }) => [
    `  ${duration(forMs)}`,
    id,
    step === '' ? run : `${run}, step ${step}`,
    url,
  ]);
  return ['Longest in hand:', ...table(rows)];
}
