import { expect, test } from 'vitest';
import { UPSERT } from '../../../../../shared/sinks/postgres/row.ts';
import { TASK_FIELDS } from '../../../../../shared/task/task/fields.ts';

test('every field of a record has a column', () => {
  const recorded = Object.entries(TASK_FIELDS).flatMap(([name, field]) => ('isInRecord' in field ? [name] : []));
  expect(recorded).not.toEqual([]);
  for (const name of recorded) expect(UPSERT).toContain(`"${name}" `);
});
