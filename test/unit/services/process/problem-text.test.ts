import { expect, test } from 'vitest';
import { problemText } from '../../../../services/process/findings.ts';

test('a Redis that is a replica is called one by trawl doctor, with what to do', () => {
  const said = "READONLY You can't write against a read only replica.";
  expect(problemText(new Error(said))).toBe(
    `${said} The server in REDIS_URL is a replica: name its master there, or promote it (redis-cli REPLICAOF NO ONE)`,
  );
  expect(problemText(new Error('anything else'))).toBe('anything else');
});
