import type { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { redisProblems } from '../../../../../shared/stores/redis/connection.ts';

test.each([
  ['6.2.6', 'standalone', /^Redis 6\.2\.6 is too old: expected 7\.0 or later$/],
  ['7.0.15', 'cluster', /^Redis Cluster is not supported/],
  ['7.0.15', 'sentinel', /^this is a Redis Sentinel, which keeps no data/],
])('a Redis %s in mode %s is refused', async (version, mode, said) => {
  const info = async (): Promise<string> => `# Server\r\nredis_version:${version}\r\nredis_mode:${mode}\r\n`;
  const problems = await redisProblems({ info } as unknown as Redis);
  expect(problems).toEqual([{ problem: expect.stringMatching(said), isFatal: true }]);
});
