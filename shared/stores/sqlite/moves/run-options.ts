import type { RunOptions } from '../../../ports/runs.ts';
import type { RunRow } from './rows/run-rows.ts';

/** Parsed options of the last runs, by their text: they never change, and every call reads them. */
const parsed = new Map<string, RunOptions>();
const MOST_PARSED = 100;

export function optionsOf({ options }: Pick<RunRow, 'options'>): RunOptions {
  let known = parsed.get(options);
  if (known === undefined) {
    known = JSON.parse(options) as RunOptions;
    if (parsed.size >= MOST_PARSED) parsed.clear();
    parsed.set(options, known);
  }
  return known;
}
