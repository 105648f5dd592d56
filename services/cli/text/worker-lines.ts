import { count, duration } from '../../../shared/control/format.ts';
import { isWithoutWork } from '../../../shared/control/workers/idle-workers.ts';
import { lackingSecrets } from '../../../shared/control/workers/lacking-secrets.ts';
import type { LiveWorker } from '../../../shared/ports/roster.ts';
import { TRAWL, WORK_COMMAND } from '../../../shared/runtime/started-as.ts';
import type { Line } from './output.ts';
import { table } from './table.ts';

/** Maximum number of workers that `trawl status` lists: it shows runs, and hundreds of lines would push them off the screen. */
const MOST_WORKERS = 20;

/**
 * The live workers, one line each. With `isShort`, only the first of many, those that don't take deliveries before the others, and how
 * many more there are.
 */
export function workerLines(
  workers: readonly LiveWorker[],
  { isLocal = false, isShort = false }: { readonly isLocal?: boolean; readonly isShort?: boolean } = {},
): Line[] {
  // For a local crawl without a process, another line says how to resume it.
  if (workers.length === 0) return isLocal ? [] : [`Workers: none is running (${WORK_COMMAND})`];
  const listed = isShort && workers.length > MOST_WORKERS ? idleFirst(workers).slice(0, MOST_WORKERS) : workers;
  const rows = listed.map((worker) => [
    `  ${worker.id}`,
    worker.state,
    `${worker.inHand} of ${worker.slots} in hand`,
    isWithoutWork(worker) ? 'idle: no host is due' : `bound by ${worker.bound}`,
  ]);
  const others = workers.length - listed.length;
  return [
    `Workers: ${count(workers.length)}`,
    ...table(rows),
    ...(others > 0 ? [`  … and ${count(others)} more: ${TRAWL} workers`] : []),
    ...lackingSecrets(workers).map((text): Line => ({ text, mark: 'warning' })),
  ];
}

function idleFirst(workers: readonly LiveWorker[]): LiveWorker[] {
  const isIdle = ({ state }: LiveWorker): number => (state === 'consuming' ? 0 : 1);
  return workers.toSorted((a, b) => isIdle(b) - isIdle(a));
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
