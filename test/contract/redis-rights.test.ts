import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import { afterAll, expect, inject, onTestFinished, test } from 'vitest';
import { ConfigurationError } from '../../shared/runtime/errors.ts';
import { RedisHostGate } from '../../shared/stores/redis/host-gate.ts';
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
  expect(await saidOf(LEAST_RIGHTS)).toBeUndefined();
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

test.each([[['EVAL']], [['EVALSHA']], [['GET', 'HSET', 'UNLINK', 'EXEC', 'TIME']]])(
  'a Redis that has renamed %s is refused, and the commands and the setting are named',
  async (commands) => {
    const { redis: own } = await openPrivateRedis(...commands.flatMap((command) => ['--rename-command', command, '']));
    const said = `Redis lacks commands: ${commands.join(', ')}. Check rename-command in its configuration: Trawl needs them by their own names`;
    await expect(checkRights(own, 't:')).rejects.toThrow(new ConfigurationError([said]));
  },
);

test('a script of a Redis that has renamed one of its commands changes nothing, and its error says so', async () => {
  const { redis: own } = await openPrivateRedis('--rename-command', 'HSET', '');
  const gate = new RedisHostGate({ redis: own, prefix: 't:' });
  await expect(gate.pauseByHand('a.test', 'audit')).rejects.toThrow(
    /^Redis lacks commands \(\S.* doctor names them\)\. Check rename-/,
  );
  expect(await own.dbsize()).toBe(0);
});
