import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openRecords, openSink } from '../../shared/backends/sinks.ts';
import { RecordRefusedError } from '../../shared/ports/sink.ts';
import { ConfigurationError, UnavailableError } from '../../shared/runtime/errors.ts';
import { silentLog } from '../../shared/runtime/logger.ts';
import { settingsFrom } from '../../shared/settings/settings.ts';
import { openPostgresPool } from '../../shared/sinks/postgres/connection.ts';
import { PostgresSink } from '../../shared/sinks/postgres/sink.ts';
import { PostgresSource } from '../../shared/sinks/postgres/source.ts';
import { doneRecord } from '../support/builders.ts';
import { openProxiedDatabase, openTestDatabase, type TestDatabase } from '../support/stores/postgres.ts';

const FOLDER = join(import.meta.dirname, '../../shared/sinks/postgres/sql');
const STEPS = readdirSync(FOLDER)
  .map((name) => ({ number: Number.parseInt(name, 10), path: join(FOLDER, name) }))
  .sort((a, b) => a.number - b.number);
/** The schema version of the newest file. */
const NEWEST = STEPS.length;

let roles = 0;

function sinkAt(url: string, name = 'trawl test'): { readonly sink: PostgresSink; acquired(): number } {
  const pool = openPostgresPool(url, name);
  let acquired = 0;
  pool.on('acquire', () => acquired++);
  const sink = new PostgresSink({ pool });
  onTestFinished(() => sink.stop());
  return { sink, acquired: () => acquired };
}

async function stored({ pool }: TestDatabase): Promise<number> {
  return Number((await pool.query('SELECT count(*) FROM trawl_records')).rows[0].count);
}

function pages(count: number): ReturnType<typeof doneRecord>[] {
  return Array.from({ length: count }, (_, n) => doneRecord(`http://a.test/${n}`, { release: n + 1 }));
}

function connectTo(url: string) {
  const settings = settingsFrom({ flag: { SINK: url }, environment: {}, file: {} });
  return { settings, log: silentLog, name: 'trawl test', attempts: 1 };
}

/** Creates a role that can use the schema, but nothing in it except what it is granted. */
async function openRole({ url, pool }: TestDatabase) {
  const role = `writer_${process.pid}_${++roles}`;
  await pool.query(`CREATE ROLE ${role} LOGIN PASSWORD 'writes'`);
  onTestFinished(async () => {
    await pool.query(`DROP OWNED BY ${role}`);
    await pool.query(`DROP ROLE ${role}`);
  });
  const [{ current_schema: schema }] = (await pool.query('SELECT current_schema')).rows;
  const grant = async (...rights: readonly string[]): Promise<void> => {
    for (const right of rights) await pool.query(`GRANT ${right} TO ${role}`);
  };
  await grant(`USAGE ON SCHEMA ${schema}`);
  const theirs = new URL(url);
  [theirs.username, theirs.password] = [role, 'writes'];
  return { role, theirs: theirs.href, grant };
}

describe('Postgres: server and network trouble', () => {
  test('ten sinks that start at once on an empty database create one schema', async () => {
    const { url, pool } = await openTestDatabase();
    const sinks = Array.from({ length: 10 }, () => sinkAt(url).sink);
    await Promise.all(sinks.map((sink) => sink.start()));
    await Promise.all(sinks.map((sink, n) => sink.put(doneRecord(`http://a.test/${n}`))));
    expect((await pool.query('SELECT version FROM trawl_schema')).rows).toEqual([{ version: NEWEST }]);
    expect(await stored({ url, pool })).toBe(10);
  });

  test('a schema newer than the program is refused with an explanation by sink and reader, and left unchanged', async () => {
    const { url, pool } = await openTestDatabase();
    await sinkAt(url).sink.start();
    await pool.query('UPDATE trawl_schema SET version = 99');
    const failures = [openSink(connectTo(url), 'w'), openRecords(connectTo(url))].map((opening) =>
      opening.catch((error: unknown) => error),
    );
    for (const failure of await Promise.all(failures)) {
      expect(failure).toBeInstanceOf(ConfigurationError);
      expect((failure as ConfigurationError).problems).toEqual([
        `The tables in Postgres have version 99, and this program supports none newer than ${NEWEST}: use the newer program, or name another database in SINK`,
      ]);
    }
    expect((await pool.query('SELECT version FROM trawl_schema')).rows).toEqual([{ version: 99 }]);
  });

  test('tables not yet migrated by a sink can be read, without the fields that have no column', async () => {
    const { url, pool } = await openTestDatabase();
    const { sink } = sinkAt(url);
    await sink.start();
    const { version: _, ...record } = doneRecord('http://a.test/1', { data: { price: 1 } });
    await sink.put({ ...record, items: 1 });
    await pool.query('ALTER TABLE trawl_records DROP COLUMN version, DROP COLUMN items');
    await pool.query('UPDATE trawl_schema SET version = 4');
    const source = await openRecords(connectTo(url));
    onTestFinished(() => source.close());
    expect(await Array.fromAsync(source.read(record.run))).toEqual([record]);
    expect(await source.find(record.run, record.task)).toEqual(record);
    expect([await source.runs(), await source.last()]).toEqual([[record.run], record.run]);
  });

  test('a migration can take longer than the time-out of other statements', async () => {
    const { url, pool } = await openTestDatabase();
    for (const { number, path } of STEPS) if (number < 8) await pool.query(readFileSync(path, 'utf8'));
    await pool.query('CREATE TABLE trawl_schema AS SELECT 7 AS version');
    const migrating = new PostgresSink({ pool: new pg.Pool({ connectionString: url, query_timeout: 500 }) });
    onTestFinished(() => migrating.stop());
    const writing = await pool.connect();
    onTestFinished(() => writing.release());
    await writing.query('BEGIN');
    // Building an index waits for running writes to end.
    await writing.query('LOCK trawl_records IN ROW EXCLUSIVE MODE');
    await Promise.all([migrating.start(), writing.query('SELECT pg_sleep(1.5)').then(() => writing.query('COMMIT'))]);
    expect((await pool.query('SELECT version FROM trawl_schema')).rows).toEqual([{ version: NEWEST }]);
  });

  test('times are read back unchanged, whatever the DateStyle of the database', async () => {
    const { url } = await openTestDatabase();
    const { sink } = sinkAt(url);
    await sink.start();
    const record = doneRecord('http://a.test/1');
    await sink.put(record);
    const german = new URL(url);
    german.searchParams.set('options', `${german.searchParams.get('options')} -cdatestyle=German`);
    const source = await openRecords(connectTo(german.href));
    onTestFinished(() => source.close());
    expect(await source.find(record.run, record.task)).toEqual(record);
  });

  test('every query of a reader that gets no answer in time fails with a time-out', async () => {
    const { url, pool } = await openTestDatabase();
    await sinkAt(url).sink.start();
    const source = new PostgresSource({ pool: new pg.Pool({ connectionString: url, query_timeout: 300 }) });
    onTestFinished(() => source.close());
    const locking = await pool.connect();
    onTestFinished(() => locking.release());
    await locking.query('BEGIN');
    await locking.query('LOCK trawl_records');
    const asked = [
      ...[source.has('r'), source.runs(), source.last(), source.find('r', 'r:1')],
      Array.fromAsync(source.read('r')),
    ];
    for (const answer of await Promise.allSettled(asked)) {
      const { reason } = answer as PromiseRejectedResult;
      expect(reason).toBeInstanceOf(UnavailableError);
      expect(reason.message).toBe("records can't be read from Postgres: Query read timeout. Try again");
    }
    await locking.query('ROLLBACK');
  });

  test('a connection that no longer answers is dropped, and the next query uses another one', async () => {
    const { url, proxied, proxy } = await openProxiedDatabase();
    await sinkAt(url).sink.start();
    const source = new PostgresSource({ pool: new pg.Pool({ connectionString: proxied, query_timeout: 1_000 }) });
    onTestFinished(() => source.close());
    expect(await source.has('r')).toBe(false);
    proxy.halve();
    await expect(source.has('r')).rejects.toThrow('Query read timeout');
    expect(await source.has('r')).toBe(false);
  });

  test('a database whose encoding is not UTF8 is refused with an explanation', async () => {
    const { url, pool } = await openTestDatabase();
    const name = `latin${process.pid}`;
    await pool.query(`CREATE DATABASE ${name} ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0`);
    onTestFinished(async () => void (await pool.query(`DROP DATABASE ${name} WITH (FORCE)`)));
    const latin = new URL(url);
    latin.pathname = `/${name}`;
    latin.search = '';
    await expect(openSink(connectTo(latin.href), 'w')).rejects.toThrow(
      'expected the database in SINK to have the encoding UTF8, found LATIN1',
    );
  });

  test('a role that can only write records is enough once the schema exists', async () => {
    const { url, pool } = await openTestDatabase();
    await sinkAt(url).sink.start();
    const { theirs, grant } = await openRole({ url, pool });
    await grant('SELECT ON trawl_schema', 'SELECT, INSERT, UPDATE ON trawl_records');
    const { sink } = sinkAt(theirs);
    await sink.start();
    await sink.put(doneRecord('http://a.test/1'));
    expect(await stored({ url, pool })).toBe(1);
  });

  test('missing rights to store records are reported before the first record', async () => {
    const { url, pool } = await openTestDatabase();
    const { theirs, role, grant } = await openRole({ url, pool });
    const problem = async (): Promise<string | undefined> => {
      const source = await openRecords(connectTo(theirs));
      return await source.storingProblem?.().finally(() => source.close());
    };
    expect(await problem()).toMatch(/^the user in SINK may not create tables: GRANT CREATE ON SCHEMA \S+$/);
    await expect(openSink(connectTo(theirs), 'w')).rejects.toThrow(/refuses the user: permission denied for schema/);
    await sinkAt(url).sink.start();
    await grant('SELECT ON trawl_schema', 'SELECT, INSERT ON trawl_records');
    expect(await problem()).toBe('the user in SINK may not SELECT, INSERT and UPDATE trawl_records');
    await grant('UPDATE ON trawl_records');
    expect(await problem()).toBeUndefined();
    await pool.query(`ALTER ROLE ${role} SET default_transaction_read_only = on`);
    expect(await problem()).toBe('it is read-only, perhaps a standby');
  });

  test('records put at the same time share round trips', async () => {
    const database = await openTestDatabase();
    const { sink, acquired } = sinkAt(database.url);
    await sink.start();
    const before = acquired();
    await Promise.all(pages(1_000).map((record) => sink.put(record)));
    expect(acquired() - before).toBeLessThanOrEqual(3);
    expect(await stored(database)).toBe(1_000);
  });

  test('records are stored although the server ends all connections in between, as on a restart', async () => {
    const database = await openTestDatabase();
    // Other tests have connections to this server as well.
    const { sink } = sinkAt(database.url, 'trawl ended');
    await sink.start();
    for (let round = 0; round < 3; round++) {
      await sink.put(doneRecord(`http://a.test/${round}`));
      await database.pool.query(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'trawl ended'",
      );
    }
    await sink.put(doneRecord('http://a.test/last'));
    expect(await stored(database)).toBe(4);
  });

  test('while the server is unreachable records are rejected, and accepted again when it is back', async () => {
    const database = await openProxiedDatabase();
    const { sink } = sinkAt(database.proxied);
    await sink.start();
    database.proxy.close();
    const outcomes = await Promise.allSettled(pages(20).map((record) => sink.put(record)));
    expect(new Set(outcomes.map(({ status }) => status))).toEqual(new Set(['rejected']));
    expect(
      outcomes.some((outcome) => outcome.status === 'rejected' && outcome.reason instanceof RecordRefusedError),
    ).toBe(false);
    database.proxy.open();
    await Promise.all(pages(20).map((record) => sink.put(record)));
    expect(await stored(database)).toBe(20);
  });

  test('every accepted record is stored while connections are cut again and again', async () => {
    const database = await openProxiedDatabase();
    const { sink } = sinkAt(database.proxied);
    await sink.start();
    const records = pages(100_000);
    const taken: string[] = [];
    let isOver = false;
    const write = async (): Promise<void> => {
      for (let record = records.pop(); record !== undefined && !isOver; record = records.pop()) {
        const { task } = record;
        await sink.put(record).then(
          () => taken.push(task),
          () => new Promise((resolve) => setTimeout(resolve, 5)),
        );
      }
    };
    const writing = Array.from({ length: 100 }, write);
    for (let cut = 0; cut < 10; cut++) {
      const before = taken.length;
      await expect.poll(() => taken.length, { interval: 10 }).toBeGreaterThan(before);
      database.proxy.cut();
    }
    isOver = true;
    await Promise.all(writing);
    const { rows } = await database.pool.query('SELECT task FROM trawl_records');
    const there = new Set(rows.map(({ task }) => task));
    expect(taken.filter((task) => !there.has(task))).toEqual([]);
  });

  test('a record that Postgres refuses is rejected alone; the others of its batch are stored', async () => {
    const database = await openTestDatabase();
    const { sink } = sinkAt(database.url);
    await sink.start();
    await database.pool.query("ALTER TABLE trawl_records ADD CHECK (url <> 'http://a.test/7')");
    const outcomes = await Promise.allSettled(pages(10).map((record) => sink.put(record)));
    expect(outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason.constructor] : []))).toEqual([
      RecordRefusedError,
    ]);
    expect(await stored(database)).toBe(9);
  });

  test('the error for an unreachable server or a refused password shows no credentials', async () => {
    const there = new URL((await openTestDatabase()).url);
    there.password = 'wrong-secret';
    const nowhere = 'postgres://user:wrong-secret@127.0.0.1:1/db';
    const said = await Promise.all([there.href, nowhere].map((url) => openSink(connectTo(url), 'w').catch(String)));
    expect(said[0]).toMatch(/Postgres at \S+:\d+ refuses the user name or password: password authentication failed/);
    expect(said[1]).toMatch(/Postgres at 127\.0\.0\.1:1 can't be reached.*ECONNREFUSED/);
    expect(said.join(' ')).not.toContain('secret');
  });
});
