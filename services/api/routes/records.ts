import { Readable } from 'node:stream';
import { z } from 'zod';
import { openRecords } from '../../../shared/backends/sinks.ts';
import { readColumns } from '../../../shared/control/table/columns.ts';
import { readCondition } from '../../../shared/control/table/condition.ts';
import { readPath } from '../../../shared/control/table/field-path.ts';
import { rowFormat, TABLE_FORMATS } from '../../../shared/control/table/row-format.ts';
import { RowWindow } from '../../../shared/control/table/row-window.ts';
import { type TableQuery, TableReader, type TableRecord } from '../../../shared/control/table/table-query.ts';
import type { PageRecord } from '../../../shared/ports/record.ts';
import type { RecordSource } from '../../../shared/ports/sink.ts';
import { silentLog } from '../../../shared/runtime/logger.ts';
import { Problem, problemSchema, unknownRun } from '../http/problem.ts';
import type { Api, ApiParts } from '../parts.ts';
import { ReadingPlaces } from '../reading-places.ts';
import { maybeWholeNumber, runParams, wholeNumber } from '../schemas/inputs.ts';

/** Answers under way at once. Each takes memory in proportion to its pages until its client has read it, and time from all other routes. */
const MOST_AT_ONCE = 8;
/** Characters of lines that are sent in one write. Writing each line by itself would cost far more than making it. */
const SENT_TOGETHER = 65_536;
/** Maximum characters of a list of columns. */
const LONGEST_FIELDS = 4_000;

const OUTCOMES = ['done', 'failed', 'skipped', 'all'] as const;
const TYPES = { jsonl: 'application/x-ndjson', json: 'application/json', csv: 'text/csv; charset=utf-8' };

const query = z.strictObject({
  format: z.enum(TABLE_FORMATS).default('jsonl'),
  outcome: z.enum(OUTCOMES).default('done'),
  fields: z.string().max(LONGEST_FIELDS).optional().describe('Only these columns: title,Price=offers[0].price'),
  step: z.string().min(1).max(100).optional(),
  each: z.string().max(500).optional().describe('One row per element of this list in the data; . is the data itself'),
  where: z
    .union([z.string().max(1_000), z.array(z.string().max(1_000)).max(20)])
    .optional()
    .describe('Only rows that match, such as status=200,301 or price!= (all must match if repeated)'),
  offset: wholeNumber(0, Number.MAX_SAFE_INTEGER, 0).describe('Leaves out this many rows at the beginning'),
  limit: maybeWholeNumber(1, Number.MAX_SAFE_INTEGER).describe('At most this many rows; all if absent'),
});

/** Adds the route of a run's merged records, as `trawl records` writes them. */
export function addRecordRoutes(app: Api, { link, settings }: ApiParts): void {
  const places = new ReadingPlaces(MOST_AT_ONCE);
  app.get(
    '/api/runs/:run/records',
    {
      config: { types: Object.values(TYPES).map((type) => type.replace(/;.*/, '')) },
      schema: {
        tags: ['runs'],
        operationId: 'getRecords',
        summary: 'The records of a run (`trawl records RUN`)',
        params: runParams,
        querystring: query,
        response: {
          200: z.array(z.record(z.string(), z.unknown())).describe('Streamed as JSON lines, a JSON list or CSV'),
          404: problemSchema,
          409: problemSchema,
          503: problemSchema,
        },
      },
    },
    async ({ params: { run }, query: asked }, reply) => {
      const wanted = tableQueryOf(asked);
      places.take(reply.raw);
      // Otherwise a client that gives up and asks again would have the run read several times at once.
      const leaving = new AbortController();
      reply.raw.once('close', () => leaving.abort(new Problem('timeout', 'the client has hung up')));
      const progress = await link.withStores(({ runs }) => runs.progress(run));
      const source = await openRecords({ settings, log: silentLog, name: 'trawl api', attempts: 1 });
      let reading: Reading | undefined;
      const close = async (): Promise<void> => {
        await reading?.close();
        await source.close();
      };
      try {
        if (progress === undefined && !(await source.has(run))) throw unknownRun(run);
        const reader = new TableReader(wanted);
        if (asked.format === 'csv' && asked.fields === undefined)
          await findColumns(source, run, reader, leaving.signal);
        reading = await beginReading(source, run, leaving.signal);
        const { records, done } = reading;
        if (progress !== undefined && done < progress.done) throw elsewhere(run, done, progress.done);
        const rows = rowFormat(asked.format, { reader, hasMark: false, isShown: false });
        const body = closing({ close }, lines(records, { reader, rows, window: new RowWindow(asked) }));
        return reply.type(TYPES[asked.format]).send(body as never);
      } catch (error: unknown) {
        await close();
        throw error;
      }
    },
  );
}

function tableQueryOf({ format, outcome, fields, step, each, where = [] }: z.infer<typeof query>): TableQuery {
  return {
    ...(outcome === 'all' ? {} : { outcome }),
    ...(step === undefined ? {} : { step }),
    ...(each === undefined ? {} : { each: readPath(each, 'each') }),
    isRowPerItem: format === 'csv' || fields !== undefined,
    where: [where].flat().map(readCondition),
    ...(fields === undefined ? {} : { columns: readColumns(fields) }),
  };
}

/** Reads all records once to find the columns of a table, if the request names none. */
async function findColumns(source: RecordSource, run: string, reader: TableReader, signal: AbortSignal): Promise<void> {
  for await (const record of source.read(run, { signal }))
    for (const _ of reader.rows(record as unknown as TableRecord));
}

/** A run's records once the first has been read, when the number of its done pages is known. */
interface Reading {
  readonly done: number;
  readonly records: AsyncIterable<PageRecord>;
  /** Ends the reading, even if no record was taken from `records`. */
  close(): Promise<void>;
}

async function beginReading(source: RecordSource, run: string, signal: AbortSignal): Promise<Reading> {
  let done = 0;
  const onCounted = (found: number): void => {
    done = found;
  };
  const all = source.read(run, { onCounted, signal })[Symbol.asyncIterator]();
  const first = await all.next();
  async function* records(): AsyncGenerator<PageRecord> {
    for (let next = first; next.done !== true; next = await all.next()) yield next.value;
  }
  return { done, records: records(), close: async () => void (await all.return?.()) };
}

/** Returns a stream of lines that closes their source at its end, even if no line was read. */
export function closing(source: Pick<RecordSource, 'close'>, from: AsyncIterable<string>): Readable {
  // A generator that was never started doesn't run its `finally`.
  return Readable.from(from).once('close', () => void source.close().catch(() => {}));
}

interface Lines {
  readonly reader: TableReader;
  readonly rows: ReturnType<typeof rowFormat>;
  readonly window: RowWindow;
}

async function* lines(
  records: AsyncIterable<PageRecord>,
  { reader, rows: { begin, line, end }, window }: Lines,
): AsyncGenerator<string> {
  let text = begin;
  let index = 0;
  for await (const record of records) {
    for (const row of reader.rows(record as unknown as TableRecord)) if (window.takesNext()) text += line(row, index++);
    if (window.isOver) break;
    if (text.length < SENT_TOGETHER) continue;
    yield text;
    text = '';
  }
  yield text + end;
}

function elsewhere(run: string, found: number, done: number): Problem {
  const detail = `this process can read ${found} of ${done} records of run ${run}: read them where its workers ran, or keep them in Postgres (SINK)`;
  return new Problem('records_elsewhere', detail);
}
