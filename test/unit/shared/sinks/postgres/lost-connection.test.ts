import type { Pool } from 'pg';
import { expect, test } from 'vitest';
import { PostgresSink } from '../../../../../shared/sinks/postgres/sink.ts';
import { doneRecord } from '../../../../support/builders.ts';

/** A pool whose first statement fails with this code. It counts those that were made. */
function poolThatFails(code: string) {
  let statements = 0;
  const query = async (): Promise<void> => {
    if (++statements === 1) throw Object.assign(new Error(code), { code });
  };
  const pool = { connect: async () => ({ query, release: () => {} }), end: async () => {} };
  return { pool: pool as unknown as Pool, statements: () => statements };
}

test.each([
  ['EPIPE', 2],
  ['ECONNRESET', 2],
  ['57P01', 2],
  ['40P01', 2],
  ['25006', 1],
  ['57014', 1],
])('after %s a statement is made %i times', async (code, times) => {
  const { pool, statements } = poolThatFails(code);
  const sink = new PostgresSink({ pool });
  const put = sink.put(doneRecord('http://a.test/1'));
  if (times === 1)
    await expect(put).rejects.toMatchObject({
      message: `Postgres accepts no records: ${code} (SINK)`,
      cause: { code },
    });
  else await put;
  expect(statements()).toBe(times);
  await sink.stop();
});
