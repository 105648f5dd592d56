import { expect, test } from 'vitest';
import { keptLength } from '../../../../../services/api/batches/batch-answer.ts';
import { doneRecord, failedRecord } from '../../../../support/builders.ts';

test('the length of a kept answer counts everything in its records, not only their content', () => {
  const many = 'x'.repeat(100_000);
  const records = [
    doneRecord('http://a.test/1', { data: { links: [many] } }),
    doneRecord('http://a.test/2', { content: many }),
    failedRecord('http://a.test/3', { error: many }),
  ];
  const length = keptLength(many, new Map(records.map((record) => [record.task, record])));
  expect(length).toBeGreaterThan(4 * many.length);
  expect(length).toBeLessThan(4.1 * many.length);
});
