import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Pool, PoolClient } from 'pg';
import { ConfigurationError } from '../../runtime/errors.ts';

/** Advisory lock held while the schema is checked and migrated, so that workers that start together do this in turn. */
const LOCK = 7_472_617_741;

interface Migration {
  readonly version: number;
  readonly sql: string;
}

/**
 * Brings the schema up to date with the files of `sinks/sql`: in the order of their numbers, each once, all in one transaction.
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

/** Only UTF-8 and SQL_ASCII can store all text; other encodings would refuse pages. */
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
  for (const migration of migrations) if (migration.version > version) await client.query(migration.sql);
  await client.query('DELETE FROM trawl_schema');
  await client.query('INSERT INTO trawl_schema VALUES ($1)', [newest]);
  await client.query('COMMIT');
}

/**
 * Is there a schema, so that there may be records to read?
 *
 * @throws ConfigurationError if the schema is newer than this program
 */
export async function hasSchema(pool: Pool): Promise<boolean> {
  const client = await pool.connect();
  try {
    return (await versionOf(client)) > 0;
  } finally {
    client.release();
  }
}

async function versionOf(client: PoolClient): Promise<number> {
  const { rows } = await client.query("SELECT to_regclass('trawl_schema') IS NOT NULL AS there");
  if (rows[0]?.there !== true) return 0;
  const found = await client.query('SELECT max(version) AS version FROM trawl_schema');
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
