import type { DoneRecord, EndedRecord } from '../../ports/record.ts';
import { ConfigurationError } from '../../runtime/errors.ts';
import type { Crawler } from '../crawler.ts';
import { itemsIn } from '../items/record-items.ts';
import type { RunMaterial } from './join-run.ts';

/** What all workers have stored of a run; see {@link RecordSource}. To be closed by whoever reads it. */
export interface RowSource {
  read(
    run: string,
  ): AsyncIterable<
    Pick<DoneRecord, 'outcome' | 'step' | 'insteadOf' | 'data' | 'items'> | Pick<EndedRecord, 'outcome' | 'step'>
  >;
  close(): Promise<void>;
}

/** How many tasks of a run are done, in all and by what their marks carry; see {@link RunProgress}. */
export interface DoneTasks {
  readonly run: string;
  readonly done: number;
  readonly steps?: Readonly<Record<string, { readonly done: number }>>;
}

/** How many tasks of each step and join of a crawler are done. */
export function doneCounts(crawler: Crawler, { done, steps = {} }: Omit<DoneTasks, 'run'>) {
  const named = Object.values(steps).reduce((sum, counts) => sum + counts.done, 0);
  const of = (name: string): number => steps[name]?.done ?? 0;
  return Object.fromEntries([
    // The first step's tasks are those that carry no step in their marks.
    ...crawler.steps.map(({ name }, at) => [name, at === 0 ? done - named : of(name)] as const),
    ...crawler.joins.map(({ name }) => [name, of(name)] as const),
  ]);
}

/** What a join of the run gets: counts from the store, and rows from the records that this machine can read. */
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
        // Steps may share a fallback, which may have tasks of its own.
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
