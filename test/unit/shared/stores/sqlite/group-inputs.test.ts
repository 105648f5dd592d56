import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { SCHEMA_STEPS } from '../../../../../shared/stores/sqlite/database/schema.ts';
import { KEEP_MISSING } from '../../../../../shared/stores/sqlite/moves/groups.ts';

test("keeping one more member of a group reads only an index, whatever the group's size", () => {
  const database = new DatabaseSync(':memory:');
  database.exec(SCHEMA_STEPS.join(''));
  const plan = database.prepare(`EXPLAIN QUERY PLAN ${KEEP_MISSING}`).all(1, 'mark', 'failed', 'step', null);
  expect(plan.map(({ detail }) => detail)).toContain('SEARCH groupInputs USING INDEX groupInputsMissing (grp=?)');
  const keep = database.prepare(KEEP_MISSING);
  for (const mark of ['b', 'a', 'c']) keep.run(1, mark, 'failed', 'step', null);
  const kept = database.prepare('SELECT mark FROM groupInputs ORDER BY n').all();
  expect(kept.map(({ mark }) => mark)).toEqual(['b', 'a', 'c']);
  database.close();
});
