import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { SCHEMA_STEPS } from '../../../../../shared/stores/sqlite/database/schema.ts';

const FOLDER = join(import.meta.dirname, '../../../../../shared/stores/sqlite');
/** A query that stands in the code as it is: those that are put together from parts are not looked at. */
const QUERY = /(['"`])((?:SELECT|UPDATE|DELETE|INSERT)\s(?:(?!\1|\$\{)[^\\])*)\1/g;
/** Tables that may have a row for each page, or for each host. */
const LONG_TABLE = /^SCAN (attempts|groupInputs|groups|hosts|letters|marks|pages|runHosts|tasks)\b/;

/** Queries that go through a long table, each with why it may. */
const MAY_SCAN: Readonly<Record<string, string>> = {
  'SELECT at FROM letters ORDER BY n LIMIT ?': 'reads the first row',
  'DELETE FROM letters WHERE n IN (SELECT n FROM letters ORDER BY n LIMIT ?) AND at <= ?': 'reads the first rows',
  'SELECT count(*) AS count FROM letters WHERE at > ?': 'somebody asks how many there are',
  'SELECT * FROM hosts WHERE pausedUntil > ? ORDER BY pausedUntil DESC, host DESC LIMIT ?':
    'somebody asks which hosts are paused',
  "SELECT host FROM hosts WHERE places <> ''": 'once, when a file is opened after a crash',
  'SELECT host FROM hosts WHERE opened > 0 AND pausedUntil > ? AND pausedUntil = openUntil ORDER BY pausedUntil DESC LIMIT ?':
    'once, when a run begins while no other is open',
};

test('no query goes through a table that may have a row for each page', () => {
  const database = new DatabaseSync(':memory:');
  onTestFinished(() => database.close());
  for (const step of SCHEMA_STEPS) database.exec(step);
  const files = globSync('**/*.ts', { cwd: FOLDER }).map((file) => readFileSync(join(FOLDER, file), 'utf8'));
  const found = files.flatMap((text) => [...text.matchAll(QUERY)].map(([, , sql = '']) => sql));
  const queries = [...new Set(found)].map((sql) => sql.replace(/LIMIT \d+/, 'LIMIT ?'));
  expect(queries.length).toBeGreaterThan(100);
  const scans = queries.filter((sql) => {
    const plan = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all();
    return plan.some(({ detail }) => LONG_TABLE.test(String(detail)));
  });
  expect(scans.sort()).toEqual(Object.keys(MAY_SCAN).sort());
});
