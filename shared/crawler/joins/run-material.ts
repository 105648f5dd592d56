import type { DoneRecord, EndedRecord } from '../../ports/record.ts';
import { ConfigurationError } from '../../runtime/errors.ts';
import type { Crawler } from '../crawler.ts';
import { itemsIn } from '../items/record-items.ts';
import type { RunMaterial } from './join-run.ts';

/** The records that all workers have stored for a run; see {@link RecordSource}. The reader closes it. */
export interface RowSource {
  read(
    run: string,
  ): AsyncIterable<
    Pick<DoneRecord, 'outcome' | 'step' | 'insteadOf' | 'data' | 'items'> | Pick<EndedRecord, 'outcome' | 'step'>
  >;
  close(): Promise<void>;
}

/** Number of `done` tasks of a run, in total and by the step or join in their marks; see {@link RunProgress}. */
export interface DoneTasks {
  readonly run: string;
  readonly done: number;
  readonly steps?: Readonly<Record<string, { readonly done: number }>>;
}

/** Returns the number of `done` tasks of each step and join of a crawler. */
export function doneCounts(crawler: Crawler, { done, steps = {} }: Omit<DoneTasks, 'run'>) {
  const named = Object.values(steps).reduce((sum, counts) => sum + counts.done, 0);
  const of = (name: string): number => steps[name]?.done ?? 0;
  return Object.fromEntries([
    // The tasks without a step in their marks are those of the first step.
    ...crawler.steps.map(({ name }, at) => [name, at === 0 ? done - named : of(name)] as const),
    ...crawler.joins.map(({ name }) => [name, of(name)] as const),
  ]);
}

/** Returns the material of a run join: counts from the store, and rows from the records that this machine can read. */
export function runMaterial(crawler: Crawler, progress: DoneTasks, openRecords: () => Promise<RowSource>): RunMaterial {
  const counts = doneCounts(crawler, progress);
  async function* records(of: string): AsyncGenerator<unknown> {
    const expected = counts[of];
    if (expected === undefined)
      throw new ConfigurationError([`${of} is no step and no join; there are ${Object.keys(counts).join(', ')}`]);
    const source = await openRecords();
    let found = 0;
    try {
      for await (const record of source.read(progress.run)) {
        // A fallback's record counts for the step it replaced: steps can share a fallback, which can have tasks of its own.
        if (record.outcome !== 'done' || (record.insteadOf ?? record.step) !== of) continue;
        found++;
        yield* itemsIn(record);
      }
    } finally {
      await source.close();
    }
    if (found >= expected) return;
    throw new ConfigurationError([
      `${found} records of ${of} can be read here, and the run counts ${expected}: the others are on another machine. Share OUTPUT_DIR, or store them in a Postgres (SINK)`,
    ]);
  }
  return { counts, records };
}
