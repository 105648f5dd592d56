import { expect, test } from 'vitest';
import { openPostgresPool } from '../../../../../shared/sinks/postgres/connection.ts';

const AT = 'postgres://jo:sesame@db.example/t';

test.each([
  ['?sslmode=require', '?sslmode=verify-full'],
  ['?sslmode=verify-full&sslrootcert=system', '?sslmode=verify-full&sslmode=verify-full'],
  ['?sslrootcert=system&options=x', '?sslmode=verify-full&options=x'],
  ['?sslmode=verify-full&sslrootcert=system.pem', '?sslmode=verify-full&sslrootcert=system.pem'],
  ['?sslmode=no-verify', '?sslmode=no-verify'],
])('%s, as other clients take it, is %s to this one', async (given, understood) => {
  const pool = openPostgresPool(`${AT}${given}`, 'a test');
  expect(pool.options.connectionString).toBe(`${AT}${understood}`);
  await pool.end();
});
