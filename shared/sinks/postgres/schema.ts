import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Pool, PoolClient } from 'pg';
import { ConfigurationError } from '../../runtime/errors.ts';

/** Advisory lock held during a migration, so that workers that start together migrate in turn. */
const LOCK = 7_472_617_741;
/** Time-out of one migration: an index of hundreds of millions of records takes many minutes. */
const STEP_TIMEOUT_MS = 3_600_000;

interface Migration {
  readonly version: number;
  readonly sql: string;
}

/**
 * Brings the schema up to date with the files in `sql/`, in the order of their numbers, each once, and all in one transaction.
 * If there is nothing to do, a role without the right to create tables is enough.
 *
 * @throws ConfigurationError if the schema is newer than this program, or the database can't hold every text
 */
export async function migrate(pool: Pool): Promise<void> {
  const migrations = readMigrations();
  const newest = migrations.at(-1)?.version ?? 0;
  const client = await pool.connect();
  try {
    await checkEncoding(client);
    if ((await versionOf(client)) < newest) await bringUpToDate(client, migrations, newest);
  } catch (error: unknown) {
    // Closing the connection also ends its transaction and its lock.
    client.release(true);
    throw error;
  }
  client.release();
}

/** Checks that the database can store any text: encodings other than UTF-8 and SQL_ASCII would refuse some pages. */
async function checkEncoding(client: PoolClient): Promise<void> {
  const { rows } = await client.query('SHOW server_encoding');
  const encoding = rows[0]?.server_encoding;
  if (encoding === 'UTF8' || encoding === 'SQL_ASCII') return;
  throw new ConfigurationError([`expected the database in SINK to have the encoding UTF8, found ${encoding}`]);
}

async function bringUpToDate(client: PoolClient, migrations: readonly Migration[], newest: number): Promise<void> {
  await client.query('BEGIN');
  await client.query('SELECT pg_advisory_xact_lock($1)', [LOCK]);
  await client.query('CREATE TABLE IF NOT EXISTS trawl_schema (version integer NOT NULL)');
  const version = await versionOf(client);
  for (const migration of migrations) {
    // The client supports this option, but its types lack it.
    const step = { text: migration.sql, query_timeout: STEP_TIMEOUT_MS };
    if (migration.version > version) await client.query(step);
  }
  await client.query('DELETE FROM trawl_schema');
  await client.query('INSERT INTO trawl_schema VALUES ($1)', [newest]);
  await client.query('COMMIT');
}

/**
 * Returns the existing columns of `trawl_records`: fewer than this program knows if no sink of its version has migrated the table
 * yet, and none if there is no schema, and so nothing to read.
 *
 * @throws ConfigurationError if the schema is newer than this program
 */
export async function columnsThere(pool: Pool): Promise<ReadonlySet<string>> {
  if ((await versionOf(pool)) === 0) return new Set();
  const { rows } = await pool.query<{ attname: string }>(
    "SELECT attname FROM pg_attribute WHERE attrelid = to_regclass('trawl_records') AND attnum > 0 AND NOT attisdropped",
  );
  return new Set(rows.map(({ attname }) => attname));
}

interface Rights {
  readonly isReadOnly: boolean;
  readonly schema: string | null;
  readonly mayCreate: boolean | null;
  readonly mayWrite: boolean | null;
}

const RIGHTS = `
  SELECT current_setting('transaction_read_only') = 'on' AS "isReadOnly", current_schema() AS schema,
    has_schema_privilege(current_schema(), 'CREATE') AS "mayCreate",
    (SELECT bool_and(has_table_privilege(to_regclass('trawl_records'), kind))
       FROM unnest(ARRAY['SELECT', 'INSERT', 'UPDATE']) AS kind) AS "mayWrite"`;

/**
 * Returns what would keep {@link migrate} from creating the tables, or a sink from storing records in them; `undefined` if nothing
 * does. Changes nothing.
 */
export async function storingProblem(pool: Pool): Promise<string | undefined> {
  const isUpToDate = (await versionOf(pool)) === (readMigrations().at(-1)?.version ?? 0);
  const { isReadOnly, schema, mayCreate, mayWrite } = (await pool.query<Rights>(RIGHTS)).rows[0] as Rights;
  if (isReadOnly) return 'it is read-only, perhaps a standby';
  if (schema === null) return 'there is no schema: check search_path in SINK';
  if (isUpToDate)
    return mayWrite === true ? undefined : 'the user in SINK may not SELECT, INSERT and UPDATE trawl_records';
  return mayCreate === true ? undefined : `the user in SINK may not create tables: GRANT CREATE ON SCHEMA ${schema}`;
}

/** Returns the schema's version. A failed query of a pool closes its connection: one that didn't answer in time might never do. */
async function versionOf(postgres: Pool | PoolClient): Promise<number> {
  const { rows } = await postgres.query("SELECT to_regclass('trawl_schema') IS NOT NULL AS there");
  if (rows[0]?.there !== true) return 0;
  const found = await postgres.query('SELECT max(version) AS version FROM trawl_schema');
  const version = Number(found.rows[0]?.version ?? 0);
  const newest = readMigrations().at(-1)?.version ?? 0;
  if (version > newest) {
    const problem = `The tables in Postgres have version ${version}, and this program supports none newer than ${newest}: use the newer program, or name another database in SINK`;
    throw new ConfigurationError([problem]);
  }
  return version;
}

function readMigrations(): readonly Migration[] {
  const folder = join(import.meta.dirname, 'sql');
  return readdirSync(folder)
    .map((name) => ({ version: Number.parseInt(name, 10), sql: readFileSync(join(folder, name), 'utf8') }))
    .sort((a, b) => a.version - b.version);
}
