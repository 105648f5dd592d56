import type { DoneRecord, EndedRecord, PageRecord } from '../../ports/record.ts';
import { wellFormedJson } from '../../runtime/printable.ts';

type Field = keyof DoneRecord | keyof EndedRecord;

/** The columns of `trawl_records`: the record's field, the column's name and type. */
const COLUMNS: readonly (readonly [field: Field, column: string, type: string])[] = [
  ['run', 'run', 'text'],
  ['task', 'task', 'text'],
  ['release', 'release', 'bigint'],
  ['outcome', 'outcome', 'text'],
  ['reason', 'reason', 'text'],
  ['crawler', 'crawler', 'text'],
  ['version', 'version', 'text'],
  ['step', 'step', 'text'],
  ['insteadOf', 'instead_of', 'text'],
  ['url', 'url', 'text'],
  ['finalUrl', 'final_url', 'text'],
  ['redirects', 'redirects', 'jsonb'],
  ['status', 'status', 'integer'],
  ['title', 'title', 'text'],
  ['contentType', 'content_type', 'text'],
  ['contentHash', 'content_hash', 'text'],
  ['bytes', 'bytes', 'bigint'],
  ['fetchedAt', 'fetched_at', 'timestamptz'],
  ['durationMs', 'duration_ms', 'bigint'],
  ['attempt', 'attempt', 'integer'],
  ['worker', 'worker', 'text'],
  ['fromCache', 'from_cache', 'boolean'],
  ['unchanged', 'unchanged', 'boolean'],
  ['truncated', 'truncated', 'jsonb'],
  ['depth', 'depth', 'integer'],
  ['error', 'error', 'text'],
  ['from', 'asked_from', 'text'],
  ['data', 'data', 'jsonb'],
  ['items', 'items', 'integer'],
  ['contentOf', 'content_of', 'text'],
  ['article', 'article', 'jsonb'],
  ['content', 'content', 'text'],
];

const names = COLUMNS.map(([, column]) => column);

/**
 * Stores records, given as one JSON array. A newer release replaces an older one, but never the reverse. Storing the same
 * release again changes nothing.
 */
export const UPSERT = `
  INSERT INTO trawl_records AS kept (${names.join(', ')})
  SELECT ${COLUMNS.map(([field]) => `"${field}"`).join(', ')}
    FROM json_to_recordset($1::json) AS given (${COLUMNS.map(([field, , type]) => `"${field}" ${type}`).join(', ')})
  ON CONFLICT (run, task) DO UPDATE
    SET ${names.map((name) => `${name} = excluded.${name}`).join(', ')}
    WHERE kept.release < excluded.release`;

/** Returns the query for a run's records, in rows that {@link readRow} understands. A missing column is null. */
export function selectOf(there: ReadonlySet<string>): string {
  const columns = COLUMNS.map(([, name, type]) => {
    if (!there.has(name)) return `NULL AS ${name}`;
    // As text, a time would be in the DateStyle of the database, which the client might not understand.
    return type === 'timestamptz' ? `to_json(${name}) AS ${name}` : name;
  });
  return `SELECT ${columns.join(', ')} FROM trawl_records WHERE run = $1`;
}

/** In the record of a done page, a null column means null for these fields. For all others it means that the field is absent. */
const NULL_OF_A_PAGE: ReadonlySet<Field> = new Set<Field>(['title', 'contentType', 'data']);

/** Reads a row of {@link selectOf} as the client returns it: `bigint` as text, times in ISO 8601 with any time zone. */
export function readRow(row: Readonly<Record<string, unknown>>): PageRecord {
  const record: Partial<Record<Field, unknown>> = {};
  for (const [field, column, type] of COLUMNS) {
    const value = row[column];
    if (value === null && !(row.outcome === 'done' && NULL_OF_A_PAGE.has(field))) continue;
    record[field] = readValue(value, type);
  }
  return record as unknown as PageRecord;
}

function readValue(value: unknown, type: string): unknown {
  if (type === 'bigint') return Number(value);
  return type === 'timestamptz' ? new Date(String(value)).toISOString() : value;
}

/**
 * Returns JSON that Postgres accepts. It refuses the character U+0000 and halves of surrogate pairs, which no well-formed text
 * contains. Each becomes U+FFFD, unescaped, since an escape would be refused if the database's encoding is SQL_ASCII.
 */
export function withoutRefusedCharacters(given: string): string {
  const json = wellFormedJson(given);
  if (!json.includes('\\u0000')) return json;
  return json.replace(/\\(?:u0000|.)/g, (found) => (found.length > 2 ? '\ufffd' : found));
}
