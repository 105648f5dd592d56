import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { grantOf, LEAST_RIGHTS } from '../../../../../../shared/stores/redis/rights/least-rights.ts';

test('the command that grants the rights reaches redis-cli whole when it is pasted into a shell', async () => {
  // A function of a POSIX shell can't be named redis-cli.
  const script = `redis() { printf '%s\\n' "$@"; }\n${grantOf('shop:').replace('redis-cli', 'redis')}`;
  const { stdout, stderr } = await promisify(execFile)('/bin/sh', ['-c', script]);
  expect([stdout.trimEnd().split('\n'), stderr]).toEqual([['ACL', 'SETUSER', 'USER', '~shop:*', ...LEAST_RIGHTS], '']);
});
