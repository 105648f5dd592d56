import type { Beginning } from '../../ports/journal.ts';
import type { RunProgress } from '../../ports/runs.ts';
import { formOf } from '../../task/task/form.ts';
import { hostOfMark, MALFORMED_HOST } from '../../task/url/fingerprint.ts';
import type { EndOutcome, StoredTask } from '../memory/store.ts';

/** The version of the lines that this program writes, and the only one that it reads. */
export const JOURNAL_VERSION = 2;

/** A field that has nothing to say. */
export const NONE = '-';

/**
 * A journal is lines of fields with a tab between them; the first says what the line is. Times are milliseconds since the
 * journal was begun; tasks are known by their number.
 *
 * | line        | fields                                                                                          |
 * |-------------|-------------------------------------------------------------------------------------------------|
 * | `journal`   | version, run, begun at (epoch ms), what it was begun with (JSON)                                |
 * | `session`   | number, at (epoch ms), id of the machine's boot, pid, hostname, milliseconds worked before it   |
 * | `open`      | a producer that has something to offer                                                          |
 * | `sealed`    | a producer that has offered all, or `-` for all of them; URLs that were known already           |
 * | `task`      | number, parent's number, queue, first seen, deadline after it, host if the mark doesn't say it, mark, form |
 * | `text`      | number, first seen, a text that is no URL (JSON), why it is none (JSON)                         |
 * | `done`      | number, bytes, links in it that were known already                                              |
 * | `skipped`, `failed` | the same, reason, bytes that did not have to be fetched, if any                         |
 * | `retry`     | number, bytes, not before                                                                       |
 * | `claimed`   | number, the mark of the URL that redirects led it to                                            |
 * | `throttled` | number: its host asked us to slow down                                                          |
 * | `state`     | `running`, `paused` or `cancelled`                                                              |
 * | `synced`    | bytes of this file that are on the disk, with all records they speak of; milliseconds worked    |
 * | `ended`     | number of sessions, the run's progress (JSON): nothing comes after it                           |
 */
export function beginningLine({ run, options, seeds, flags }: Beginning, begunAt: number): string {
  return line('journal', JOURNAL_VERSION, run, begunAt, JSON.stringify({ options, seeds, flags }));
}

export function taskLine(task: StoredTask, parent: number, begunAt: number): string {
  const { number, mark, host, queue, firstSeen, deadline, problem } = task;
  const age = firstSeen - begunAt;
  if (host === MALFORMED_HOST)
    return `text\t${number}\t${age}\t${JSON.stringify(mark)}\t${JSON.stringify(problem ?? '')}\n`;
  const end = deadline > 0 ? deadline - firstSeen : NONE;
  const otherHost = host === hostOfMark(mark) ? NONE : host;
  return line('task', number, parent, queue, age, end, otherHost, mark, formOf(task));
}

export function endLine(number: number, outcome: EndOutcome, bytes: number, known: number, saved: number): string {
  const head = `${outcome.kind}\t${number}\t${bytes}\t${known}`;
  if (outcome.kind === 'done') return `${head}\n`;
  return `${head}\t${outcome.reason}${saved > 0 ? `\t${saved}` : ''}\n`;
}

export function retryLine(number: number, bytes: number, notBefore: number): string {
  return `retry\t${number}\t${bytes}\t${notBefore}\n`;
}

/** A line of fields that hold no tab. */
export function line(...fields: readonly (string | number)[]): string {
  return `${fields.join('\t')}\n`;
}

export function endedLine(sessions: number, progress: RunProgress): string {
  return line('ended', sessions, JSON.stringify(progress));
}
