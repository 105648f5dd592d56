import { statSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { JournalView } from '../../ports/journal.ts';
import type { RunProgress } from '../../ports/runs.ts';
import { codeOf, messageOf, StorageError } from '../../runtime/errors.ts';
import { type JournalLine, LineProblem, linesOf, readBeginning, readJson, readLines } from './reading.ts';

/** The journal of a run; not `.jsonl`, which its records are. */
export function journalPath(folder: string, run: string): string {
  return join(folder, run, 'journal.tsv');
}

/** The journals in a folder of runs that have not ended, the one touched last first. */
export async function unfinishedJournals(folder: string): Promise<JournalView[]> {
  const views: JournalView[] = [];
  for (const run of await runsIn(folder)) {
    const view = viewJournal(folder, run);
    if (view !== undefined && view.ended === undefined) views.push(view);
  }
  return views.sort((a, b) => b.touchedAt - a.touchedAt);
}

/** How a run began, and whether it has ended; nothing if it has no journal. */
export function viewJournal(folder: string, run: string): JournalView | undefined {
  const path = journalPath(folder, run);
  const [first, second] = firstLines(path, 2);
  if (first === undefined) return undefined;
  let view: JournalView | undefined;
  readLines([first], path, (line) => {
    const { beginning } = readBeginning(line);
    if (beginning.run !== run) throw new LineProblem(`it is of run ${beginning.run}, not ${run}`);
    view = { path, beginning, touchedAt: statSync(path).mtimeMs };
  });
  if (view === undefined || second?.fields[0] !== 'ended') return view;
  readLines([second], path, ({ fields }) => {
    view = { ...(view as JournalView), ended: readJson(fields[2], progressSchema) };
  });
  return view;
}

/** How many sessions an ended run had; 0 if there is no such run. */
export function sessionsOf(path: string): number {
  const [, second] = firstLines(path, 2);
  return second?.fields[0] === 'ended' ? Number(second.fields[1]) : 0;
}

/** Who had a journal last: for those who find it held. */
export function lastSession(path: string): string {
  let last: JournalLine | undefined;
  for (const line of linesOf(path)) if (line.fields[0] === 'session') last = line;
  return last === undefined ? 'another process' : `process ${last.fields[4]} on ${last.fields[5]}`;
}

const progressSchema = z.custom<RunProgress>((value) => typeof value === 'object' && value !== null && 'run' in value);

function firstLines(path: string, count: number): JournalLine[] {
  const lines: JournalLine[] = [];
  try {
    for (const line of linesOf(path)) if (lines.push(line) === count) break;
  } catch (error: unknown) {
    if (codeOf(error) !== 'ENOENT' && codeOf(error) !== 'ENOTDIR') throw unreadable(path, error);
  }
  return lines;
}

async function runsIn(folder: string): Promise<string[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  } catch (error: unknown) {
    if (codeOf(error) === 'ENOENT') return [];
    throw unreadable(folder, error);
  }
}

function unreadable(path: string, error: unknown): StorageError {
  return new StorageError(`${path} can't be read: ${messageOf(error)} (OUTPUT_DIR)`, { cause: error });
}
