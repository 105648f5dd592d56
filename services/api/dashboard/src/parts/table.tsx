import type { ComponentChildren } from 'preact';

export interface Column<Row> {
  readonly name: string;
  readonly of: (row: Row) => ComponentChildren;
  /** Aligned to the right. */
  readonly isNumber?: boolean;
  /** The column names the row. */
  readonly isHead?: boolean;
  /** Hidden where there is little room. */
  readonly isExtra?: boolean;
}

interface TableProps<Row> {
  /** Name of the table for screen readers. */
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  /** Shown in place of an empty table. */
  readonly none: ComponentChildren;
}

/** A table. On a narrow screen each row becomes a short list with the columns' names in front. */
export function Table<Row>({ label, columns, rows, keyOf, none }: TableProps<Row>) {
  if (rows.length === 0) return <p class="none">{none}</p>;
  return (
    <div class="table">
      <table aria-label={label}>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column.name} scope="col" class={classOf(column)}>
                {column.name === '' ? <span class="unseen">Actions</span> : column.name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              {columns.map((column) =>
                column.isHead === true ? (
                  <th key={column.name} scope="row" class={classOf(column)}>
                    {column.of(row)}
                  </th>
                ) : (
                  <td key={column.name} class={classOf(column)} data-name={column.name}>
                    {column.of(row)}
                  </td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function classOf<Row>({ isNumber, isExtra, name }: Column<Row>): string {
  return [isNumber === true ? 'number' : '', isExtra === true ? 'extra' : '', name === '' ? 'actions' : '']
    .filter((part) => part !== '')
    .join(' ');
}
