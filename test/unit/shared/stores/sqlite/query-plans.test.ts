import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { SCHEMA_STEPS } from '../../../../../shared/stores/sqlite/database/schema.ts';

const FOLDER = join(import.meta.dirname, '../../../../../shared/stores/sqlite');
/** A query that is written out in the code, or begins with a constant of its file; those made of other parts are not checked. */
const QUERY = /(['"`])((?:\$\{[A-Z_]+\}|(?:SELECT|UPDATE|DELETE|INSERT)\s)(?:(?!\1|\$\{)[^\\])*)\1/g;
const CONSTANT = /^\$\{([A-Z_]+)\}/;
/** Tables that may have a row for each page, or for each host. */
const LONG = 'attempts|groupInputs|groups|hosts|letters|marks|pages|runHosts|tasks';
const GOES_THROUGH = new RegExp(`^SCAN (?:${LONG})\\b`);
const OF_LONG = new RegExp(`^SEARCH (?:${LONG})\\b`);
/** A sort that no index supports: all rows found are read, whatever the limit. */
const SORTS = /^USE TEMP B-TREE FOR/;

/** Beginnings of queries that may do so, each with the reason. */
const MAY: Readonly<Record<string, string>> = {
  'SELECT at FROM letters ORDER BY n LIMIT': 'reads the first row',
  'DELETE FROM letters WHERE n IN (SELECT n FROM letters ORDER BY n LIMIT': 'reads the first rows',
  'SELECT count(*) AS count FROM letters WHERE at >': 'somebody asks how many there are',
  "SELECT host FROM hosts WHERE places <> ''": 'once, when a file is opened after a crash',
  'SELECT * FROM tasks WHERE run = ? AND release IS NOT NULL AND leaseUntil <=': 'what is in flight is bounded',
  'SELECT * FROM tasks WHERE run = ? AND dueAt <= ? ORDER BY dueAt, host':
    'sorts those that are due at the same millisecond',
  'SELECT mark, outcome, reason, input FROM groupInputs WHERE grp = ? ORDER BY n': 'a join gets all inputs of a group',
  'SELECT substr(mark,': 'reads the marks of a group',
  'INSERT OR IGNORE INTO leftovers SELECT old FROM': 'sorts the runs',
  'UPDATE hosts SET nextAt = min(nextAt': 'once, after a clock was ahead by days',
  'SELECT crawls.* FROM crawls LEFT JOIN runs': 'sorts the runs that have not ended',
};

/** The queries of a file. */
function queriesOf(text: string): string[] {
  const constantOf = (name: string): string => new RegExp(`const ${name} = \`([^\`]*)\``).exec(text)?.[1] ?? '';
  return [...text.matchAll(QUERY)]
    .map(([, , sql = '']) =>
      sql
        .replace(CONSTANT, (_, name: string) => constantOf(name))
        .replaceAll(/LIMIT (?:\d+|\?)/g, 'LIMIT +?')
        .replaceAll(/\s+/g, ' '),
    )
    .filter((sql) => !sql.includes('${') && /^[A-Z]+ /.test(sql));
}

test('no query scans or sorts a table that may have a row for each page', () => {
  const database = new DatabaseSync(':memory:');
  onTestFinished(() => database.close());
  for (const step of SCHEMA_STEPS) database.exec(step);
  const files = globSync('**/*.ts', { cwd: FOLDER }).map((file) => readFileSync(join(FOLDER, file), 'utf8'));
  const queries = [...new Set(files.flatMap(queriesOf))];
  expect(queries.length).toBeGreaterThan(100);
  const scans = queries.filter((sql) => {
    const plan = database
      .prepare(`EXPLAIN QUERY PLAN ${sql}`)
      .all()
      .map(({ detail }) => String(detail));
    if (plan.some((step) => GOES_THROUGH.test(step))) return true;
    return plan.some((step) => SORTS.test(step)) && plan.some((step) => OF_LONG.test(step));
  });
  const known = Object.keys(MAY);
  expect(scans.filter((sql) => !known.some((begin) => sql.startsWith(begin)))).toEqual([]);
  expect(
    known.filter((begin) => !scans.some((sql) => sql.startsWith(begin))),
    'no longer so',
  ).toEqual([]);
});
