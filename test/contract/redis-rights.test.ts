import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import { afterAll, expect, inject, onTestFinished, test } from 'vitest';
import { COMMANDS } from '../../shared/stores/redis/rights/commands.ts';
import { LEAST_RIGHTS } from '../../shared/stores/redis/rights/least-rights.ts';
import { checkRights } from '../../shared/stores/redis/rights/rights.ts';
import { openPrivateRedis } from '../support/servers/private-redis.ts';

const redis = new Redis(inject('redisUrl'));
afterAll(() => redis.disconnect());

/** Returns the error about a user's rights on keys with a prefix, or undefined if they suffice. */
async function saidOf(rights: readonly string[]): Promise<string | undefined> {
  const prefix = `t${randomBytes(6).toString('hex')}:`;
  const username = `user-${prefix}`;
  await redis.call('ACL', 'SETUSER', username, 'on', '>secret', '-@all', `~${prefix}*`, ...rights);
  const own = redis.duplicate({ username, password: 'secret' });
  onTestFinished(async () => {
    own.disconnect();
    await redis.call('ACL', 'DELUSER', username);
  });
  return await checkRights(own, prefix).then(
    () => undefined,
    (error: Error) => error.message,
  );
}

test('a user with all rights or with the documented least rights passes the check', async () => {
  await checkRights(redis, 't:');
  expect(await saidOf(LEAST_RIGHTS.split(' '))).toBeUndefined();
});

/** Every script first reads the time with this command, so Redis itself refuses the script. */
const OF_ALL_SCRIPTS = 'GET';

test.each(Object.keys(COMMANDS))(
  'a user without the right to run %s fails the check with an error that names it',
  async (command) => {
    const said = await saidOf(['+@all', `-${command.toLowerCase()}`]);
    const refusal =
      command === OF_ALL_SCRIPTS ? /the script can't run|'get' command/ : new RegExp(`: ${command}\\. Grant it`);
    expect(said).toMatch(refusal);
    expect(said).not.toContain('user_script');
  },
);

test.each(['EVAL', 'EVALSHA'])('a Redis that has renamed %s is refused, and the setting is named', async (command) => {
  const { redis: own } = await openPrivateRedis('--rename-command', command, '');
  const said = `Redis lacks a command: ERR unknown command '${command.toLowerCase()}'. Check rename-command in its configuration`;
  await expect(checkRights(own, 't:')).rejects.toThrow(said);
});
