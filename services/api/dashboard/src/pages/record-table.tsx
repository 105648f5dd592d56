import { useState } from 'preact/hooks';
import { RECORD_COLUMNS } from '../../../../../shared/control/table/record-columns.ts';
import { useAnswer } from '../api/answer.ts';
import { pathOf, queryOf } from '../api/client.ts';
import { Other } from '../parts/other.tsx';
import { Awaited } from '../parts/page.tsx';
import { Pager } from '../parts/pager.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { linkTo } from '../route.ts';
import { visible } from '../visible.ts';

/** Rows shown at once. Each can have megabytes of content. */
const ROWS = 20;
/** Fields of the data that are columns. A record as a whole has the others. */
const MOST_FIELDS = 4;

/** A record, or one item of it, by column. */
type Row = Readonly<Record<string, unknown>>;

/** The rows of a run's records, page by page. Each page is read once, when it is opened, since the API reads all records for it. */
export function RecordTable({ run }: { readonly run: string }) {
  const [offset, setOffset] = useState(0);
  // One more than is shown, to know whether there is another page.
  const query = queryOf({ format: 'json', each: '.', offset, limit: ROWS + 1 });
  const { answer, problem, isLoading } = useAnswer<readonly Row[]>(`${pathOf('api/runs', run, 'records')}${query}`);
  const rows = answer?.slice(0, ROWS) ?? [];
  return (
    <Awaited problem={problem} isLoading={isLoading}>
      <Table
        label="Records"
        rows={rows}
        keyOf={(row) => String(offset + rows.indexOf(row))}
        none={problem === undefined && 'No page has a record yet.'}
        columns={columnsOf(rows)}
      />
      <Pager
        of="records"
        first={offset}
        rows={rows.length}
        onBack={offset === 0 ? undefined : () => setOffset(offset - ROWS)}
        onNext={(answer?.length ?? 0) > ROWS ? () => setOffset(offset + ROWS) : undefined}
      />
    </Awaited>
  );
}

/** Returns columns for the first fields of the data; without data, for the title and status of the pages. */
function columnsOf(rows: readonly Row[]): readonly Column<Row>[] {
  const fields = new Set(rows.flatMap(Object.keys).filter((name) => !RECORD_COLUMNS.has(name)));
  const names = fields.size === 0 ? ['title', 'status'] : [...fields].slice(0, MOST_FIELDS);
  return [
    {
      name: 'URL',
      of: ({ url }) => (
        <a href={linkTo(['url'], { url: String(url) })}>
          <Other>{String(url)}</Other>
        </a>
      ),
      isHead: true,
    },
    ...names.map((name) => ({ name: visible(name), of: (row: Row) => <Other>{textOf(row[name])}</Other> })),
    { name: 'Whole', of: (row) => <Whole row={row} /> },
  ];
}

/** All fields of a row, written out only once they are asked for. */
function Whole({ row }: { readonly row: Row }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>JSON</summary>
      {isOpen && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: long texts scroll inside it, by the arrow keys too
        <pre class="other" tabIndex={0}>
          {JSON.stringify(row, undefined, 2).split('\n').map(visible).join('\n')}
        </pre>
      )}
    </details>
  );
}

function textOf(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
