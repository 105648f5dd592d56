import { count, counted } from '../../../shared/control/format.ts';
import { type Column, MOST_COLUMNS } from '../../../shared/control/table/columns.ts';
import { rowFormat } from '../../../shared/control/table/row-format.ts';
import { RowWindow } from '../../../shared/control/table/row-window.ts';
import { TableReader, type TableRecord } from '../../../shared/control/table/table-query.ts';
import type { NoRecord, RecordSource } from '../../../shared/ports/sink.ts';
import { quoted, TRAWL } from '../../../shared/runtime/started-as.ts';
import type { UrlKeyRule } from '../../../shared/task/url/url-key.ts';
import type { Context } from '../command.ts';
import { type LineOutput, openLineOutput } from '../text/line-output.ts';
import { say } from '../text/output.ts';
import { type TallyLine, withTally } from '../text/tally-line.ts';
import type { TablePlan } from './table-plan.ts';

/** Maximum number of lines shown that are not records. */
const MOST_SHOWN = 3;
/** Maximum number of names listed when a requested one doesn't exist. */
const MOST_NAMES = 20;

interface TableOfRun {
  readonly source: RecordSource;
  readonly run: string;
  /** The run's `urlKey` rules, by which the lines of a list are found. */
  readonly rules: readonly UrlKeyRule[] | undefined;
  /** Returns the columns of a step's items, if they are known without reading its records. */
  readonly columnsOf: ColumnsOf;
  /** Its signal aborts the writing. */
  readonly context: Pick<Context, 'telling' | 'signal'>;
}

type ColumnsOf = (step: { readonly name: string; readonly crawler: unknown }) => Promise<readonly Column[] | undefined>;

/** Writes the table of a run, and reports what is missing or left out on standard error. */
export async function writeTable(
  plan: TablePlan,
  { source, run, rules, columnsOf, context }: TableOfRun,
): Promise<void> {
  const noRecords = new NoRecords();
  const { signal } = context;
  const stored = (onNoRecord?: (found: NoRecord) => void) => source.read(run, { onNoRecord, signal });
  const { list } = plan;
  if (list === undefined) {
    await writeRows(plan, { columnsOf, first: () => stored(), last: () => stored(noRecords.add) }, context);
  } else {
    try {
      await list.keep(stored(noRecords.add), { run, rules, step: plan.query.step });
      const records = (): AsyncIterable<TableRecord> => interruptible(list.read(), signal);
      await writeRows(plan, { columnsOf, first: records, last: records }, context);
    } finally {
      list.close();
    }
  }
  say(...noRecords.lines());
}

/** The two passes over the records: `first` finds the columns, `last` writes the rows. */
interface Passes {
  readonly columnsOf: ColumnsOf;
  first(): AsyncIterable<object>;
  last(): AsyncIterable<object>;
}

async function writeRows(
  plan: TablePlan,
  { columnsOf, first, last }: Passes,
  context: TableOfRun['context'],
): Promise<void> {
  const { query, format, hasMark, path } = plan;
  const window = new RowWindow(plan.window ?? {});
  const output = await openLineOutput(path);
  try {
    const reader = new TableReader(query);
    const written = await withTally(
      context,
      { what: 'records read', isPrinting: path === undefined },
      async (tally) => {
        if (format === 'csv' && query.columns === undefined) {
          for await (const record of tallied(first(), tally)) for (const _ of reader.rows(record as TableRecord));
          const step = stepOfRows(plan, reader);
          const columns = step === undefined ? undefined : await columnsOf(step);
          if (columns !== undefined) reader.know(columns);
        }
        const isShown = path === undefined && process.stdout.isTTY;
        const rows = rowFormat(format, { reader, hasMark, isShown });
        await output.write(rows.begin);
        const count = await writeAll(tallied(last(), tally), {
          reader,
          window,
          line: rows.line,
          output,
        });
        await output.write(rows.end);
        return count;
      },
    );
    await output.finish();
    if (path !== undefined) say(`${counted(written, whatOf(query, reader))} written to ${path}`);
    if (!output.isOver)
      say(...remarks(reader), ...(remarkOnOffset(window, written) ?? remarksOnSteps(plan, reader, written)));
  } finally {
    await output.close();
  }
}

/** Returns the step whose items make up all rows; undefined if there are several steps, or rows that are not items. */
function stepOfRows({ query: { outcome, each } }: TablePlan, { steps }: TableReader) {
  const isOfItems = outcome === 'done' && (each === undefined || each.path.from === 'item');
  const [first, ...others] = [...steps].filter(([, { hasRows }]) => hasRows);
  if (!isOfItems || first === undefined || others.length > 0) return undefined;
  return { name: first[0], crawler: first[1].crawler };
}

async function* tallied<T>(records: AsyncIterable<T>, tally: TallyLine): AsyncGenerator<T> {
  for await (const record of records) {
    tally.add(1);
    yield record;
  }
}

interface Writing {
  readonly reader: TableReader;
  readonly window: RowWindow;
  readonly line: ReturnType<typeof rowFormat>['line'];
  readonly output: LineOutput;
}

async function writeAll(records: AsyncIterable<object>, { reader, window, line, output }: Writing): Promise<number> {
  let written = 0;
  for await (const record of records) {
    for (const row of reader.rows(record as TableRecord))
      if (window.takesNext()) await output.write(line(row, written++));
    if (window.isOver || output.isOver) break;
  }
  return written;
}

function whatOf({ outcome, each }: TablePlan['query'], { hasItemRows }: TableReader): string {
  if (each !== undefined || outcome === undefined || hasItemRows) return 'row';
  return { done: 'record', failed: 'failure', skipped: 'skipped URL' }[outcome];
}

/** Reports requested fields that don't exist, and columns that were left out. */
function remarks(reader: TableReader): string[] {
  const { missing, names, listed, columnsLeftOut } = reader;
  const lines = missing.map(({ flag, text }) => `trawl: no record has a field ${text} (${flag})`);
  if (missing.length > 0 && names.length > 0) lines.push(`The data has: ${someOf(names)}`);
  if (missing.length > 0 && listed.length > 0) lines.push(`The list has: ${someOf(listed)}`);
  if (columnsLeftOut > 0)
    lines.push(
      `trawl: ${count(columnsLeftOut)} columns beyond the first ${MOST_COLUMNS} were left out: name those you need with --fields`,
    );
  return lines;
}

/** Says how many rows there are, if `--offset` left out all of them. */
function remarkOnOffset({ seen }: RowWindow, written: number): string[] | undefined {
  return written === 0 && seen > 0 ? [`trawl: there are only ${counted(seen, 'row')} (--offset)`] : undefined;
}

function someOf(names: readonly string[]): string {
  return `${names.slice(0, MOST_NAMES).join(', ')}${names.length > MOST_NAMES ? ', …' : ''}`;
}

/** Suggests flags for a better table of the records of steps. */
function remarksOnSteps({ query, format }: TablePlan, reader: TableReader, written: number): string[] {
  const { step, columns, outcome } = query;
  const { steps } = reader;
  const names = [...steps.keys()];
  if (step !== undefined && names.length > 0 && !steps.has(step))
    return [`trawl: no record is from step ${step}; the steps are ${names.join(', ')} (--step)`];
  if (written === 0 && outcome === 'done') return remarksOnNothing(query, reader);
  const ofRows = [...steps].filter(([, { hasRows }]) => hasRows).map(([name]) => name);
  const isMixed = format === 'csv' && columns === undefined && outcome === 'done' && ofRows.length > 1;
  return isMixed
    ? [`trawl: the rows are from several steps: ${ofRows.map((name) => `--step ${quoted(name)}`).join(', ')}`]
    : [];
}

/** Says why a table of pages has no row. */
function remarksOnNothing({ step, hasEmpty = false, where }: TablePlan['query'], reader: TableReader): string[] {
  const { steps } = reader;
  const asked = [...steps].filter(([name]) => step === undefined || name === step);
  const lines: string[] = [];
  if (asked.some(([, { hasRows }]) => hasRows)) {
    if (where.length > 0) lines.push('trawl: no row meets the conditions (--where)');
  } else if (asked.length > 0 && !hasEmpty) {
    const names = asked.map(([name]) => name);
    lines.push(
      `trawl: ${names.length === 1 ? 'step' : 'steps'} ${someOf(names)} emitted nothing (--empty adds a row for each page)`,
    );
    if (step === undefined)
      lines.push(
        `trawl: see what a step makes of a page: ${TRAWL} try URL --crawler FILE (what JavaScript adds is not there)`,
      );
  }
  if (reader.hasOther('failed')) lines.push('trawl: pages that failed have no row (--failed lists them, and why)');
  if (reader.hasOther('skipped')) lines.push('trawl: skipped pages have no row (--skipped lists them, and why)');
  return lines;
}

async function* interruptible<T>(records: AsyncIterable<T>, signal: AbortSignal | undefined): AsyncGenerator<T> {
  for await (const record of records) {
    signal?.throwIfAborted();
    yield record;
  }
}

/** Counts stored lines that are not records, and keeps the first ones. */
class NoRecords {
  readonly #first: NoRecord[] = [];
  #count = 0;

  readonly add = (found: NoRecord): void => {
    if (++this.#count <= MOST_SHOWN) this.#first.push(found);
  };

  lines(): string[] {
    if (this.#count === 0) return [];
    const lines = this.#first.map(({ file, line, begins }) => `  ${file}, line ${line}: ${begins}`);
    const more = this.#count > MOST_SHOWN ? [`  and ${count(this.#count - MOST_SHOWN)} more`] : [];
    return [`trawl: lines left out because they are not records: ${count(this.#count)}`, ...lines, ...more];
  }
}
