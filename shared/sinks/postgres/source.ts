import type { Pool, PoolClient } from 'pg';
import type { PageRecord } from '../../ports/record.ts';
import type { ReadWatch, RecordSource } from '../../ports/sink.ts';
import { messageOf, TrawlError, UnavailableError } from '../../runtime/errors.ts';
import { readRow, selectOf } from './row.ts';
import { columnsThere, storingProblem } from './schema.ts';

/** Target size of one fetch, in characters. The number of rows to ask for is estimated from the rows before. */
const WANTED_CHARACTERS = 2 ** 20;
const MOST_ROWS = 256;
const FIRST_ROWS = 16;
/** Looks up the run's first task, which the key finds at once. `EXISTS` would scan the table if the run is a big part of it. */
const HAS = 'SELECT min(task) IS NOT NULL AS found FROM trawl_records WHERE run = $1';
const DONE = "SELECT count(*) AS done FROM trawl_records WHERE run = $1 AND outcome = 'done'";
/** Jumps from one run to the next in the index, without reading the records in between. */
const RUNS = `
  WITH RECURSIVE runs (run) AS (
    SELECT min(run) FROM trawl_records
    UNION ALL
    SELECT (SELECT min(run) FROM trawl_records WHERE trawl_records.run > runs.run) FROM runs WHERE run IS NOT NULL
  )
  SELECT run FROM runs WHERE run IS NOT NULL`;
const LAST = `${RUNS}
  ORDER BY (SELECT min(fetched_at) FROM trawl_records WHERE trawl_records.run = runs.run) DESC, run DESC LIMIT 1`;
/** Makes Postgres read only the run's records. In a scan of the table, the first row might come after those of all other runs. */
const BEGIN = 'BEGIN READ ONLY; SET LOCAL enable_seqscan = off; SET LOCAL cursor_tuple_fraction = 1';

type Row = Readonly<Record<string, unknown>>;

/**
 * Reads the records stored by {@link PostgresSink}s. A cursor keeps memory to a few megabytes, whatever the size of the run. All
 * records come from one snapshot. The source owns the pool.
 */
export class PostgresSource implements RecordSource {
  readonly #pool: Pool;

  constructor({ pool }: { readonly pool: Pool }) {
    this.#pool = pool;
  }

  /** Connects, and checks that records can be read. Rejects with the client's own error, which shows what to mend. */
  async connect(): Promise<void> {
    await this.#rows(() => HAS, ['']);
  }

  async *read(run: string, { onCounted, signal }: ReadWatch = {}): AsyncGenerator<PageRecord> {
    const there = await asked(columnsThere(this.#pool));
    if (there.size === 0) {
      onCounted?.(0);
      return;
    }
    const client = await asked(this.#pool.connect());
    let isOver = false;
    try {
      await client.query(BEGIN);
      if (onCounted !== undefined) onCounted(Number((await client.query(DONE, [run])).rows[0]?.done ?? 0));
      signal?.throwIfAborted();
      await client.query(`DECLARE records NO SCROLL CURSOR FOR ${selectOf(there)}`, [run]);
      for await (const record of fetchAll(client)) {
        signal?.throwIfAborted();
        yield record;
      }
      await client.query('COMMIT');
      isOver = true;
    } catch (error: unknown) {
      throw signal?.aborted === true ? error : unreadable(error);
    } finally {
      // If the reader stopped halfway, this closes the connection, and the cursor with it.
      client.release(!isOver);
    }
  }

  async find(run: string, task: string): Promise<PageRecord | undefined> {
    const [row] = await asked(this.#rows((there) => `${selectOf(there)} AND task = $2`, [run, task]));
    return row && readRow(row);
  }

  async has(run: string): Promise<boolean> {
    const [row] = await asked(this.#rows(() => HAS, [run]));
    return row?.found === true;
  }

  async runs(): Promise<readonly string[]> {
    const rows = await asked(this.#rows(() => RUNS));
    return rows.map(({ run }) => run as string);
  }

  async last(): Promise<string | undefined> {
    const [row] = await asked(this.#rows(() => LAST));
    return row?.run as string | undefined;
  }

  async storingProblem(): Promise<string | undefined> {
    return await storingProblem(this.#pool);
  }

  async close(): Promise<void> {
    if (!this.#pool.ended) await this.#pool.end();
  }

  /** Returns the rows of a query, which is built from the existing columns; none if there are no tables yet. */
  async #rows(queryOf: (there: ReadonlySet<string>) => string, values: readonly string[] = []): Promise<Row[]> {
    const there = await columnsThere(this.#pool);
    return there.size === 0 ? [] : (await this.#pool.query<Row>(queryOf(there), [...values])).rows;
  }
}

/** @throws UnavailableError if Postgres gives no answer */
async function asked<T>(answer: Promise<T>): Promise<T> {
  return await answer.catch((error: unknown) => {
    throw unreadable(error);
  });
}

function unreadable(error: unknown): TrawlError {
  if (error instanceof TrawlError) return error;
  return new UnavailableError(`records can't be read from Postgres: ${messageOf(error)}. Try again`, { cause: error });
}

async function* fetchAll(client: PoolClient): AsyncGenerator<PageRecord> {
  for (let count = FIRST_ROWS; ; ) {
    const { rows } = await client.query(`FETCH ${count} FROM records`);
    if (rows.length === 0) return;
    let characters = 0;
    for (const row of rows) {
      characters += 500 + (row.content?.length ?? 0) + (row.data === null ? 0 : JSON.stringify(row.data).length);
      yield readRow(row);
    }
    const fitting = Math.floor((WANTED_CHARACTERS * rows.length) / characters);
    // At most twice as many as before, since the next rows may be bigger.
    count = Math.max(1, Math.min(MOST_ROWS, count * 2, fitting));
  }
}
