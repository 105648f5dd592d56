import type { Redis } from 'ioredis';
import { expect, inject, onTestFinished, test } from 'vitest';
import { grantOf, LEAST_RIGHTS } from '../../shared/stores/redis/rights/least-rights.ts';
import { AT_FULL_SPEED } from '../support/full-speed.ts';
import { openFleet } from '../support/processes/fleet.ts';

const NOTHING = ['-@all'];

/** Creates a Redis user until the test ends. Returns the settings that log in as that user. */
async function addUser(redis: Redis, prefix: string, rights: readonly string[]): Promise<Record<string, string>> {
  const user = `user-${prefix}`;
  await redis.call('ACL', 'SETUSER', user, 'on', '>secret', ...rights);
  onTestFinished(async () => void (await redis.call('ACL', 'DELUSER', user)));
  const { hostname, port } = new URL(inject('redisUrl'));
  return { REDIS_URL: `redis://${user}:secret@${hostname}:${port || 6379}` };
}

test('a Redis user with just LEAST_RIGHTS can crawl, replay and forget without a refused command', async () => {
  const { workplace, site, redis, keyPrefix } = await openFleet({ pages: 5 });
  const env = await addUser(redis, keyPrefix, [...NOTHING, `~${keyPrefix}*`, ...LEAST_RIGHTS]);
  const run = (...args: string[]) => workplace.start(args, undefined, { env }).ended;
  const trawl = async (...args: string[]) => JSON.parse((await run(...args, '--json')).stdout);
  await trawl('produce', site.url('/sitemap.xml'), site.url('/none'), '--run', 'mine', ...AT_FULL_SPEED);
  await run('work', '--exit-when-idle', ...AT_FULL_SPEED);
  expect(await trawl('status', 'mine')).toMatchObject({ state: 'finished', done: 5, failed: 1 });
  await trawl('dlq', 'replay', '--run', 'mine');
  await trawl('pause', '--host', site.host);
  await trawl('resume', '--host', site.host);
  expect(await trawl('forget', '--all')).toMatchObject({ kept: 1 });
  await trawl('doctor', '--release');
  expect(await trawl('doctor')).toMatchObject({ ok: true });
  const refused = (await redis.call('ACL', 'LOG')) as string[][];
  expect(refused.filter((entry) => entry.includes(`user-${keyPrefix}`))).toEqual([]);
});

test.each([
  ['lacks commands', ['+@all', '-hset', '-unlink'], 'HSET, UNLINK'],
  ['may do nothing in scripts', ['+@all', '-@scripting'], "NOPERM .*'eval' command"],
  ['may run only scripts that are known', ['+@all', '-eval'], "NOPERM .*'eval' command"],
  ['may do nothing that is dangerous', ['+@all', '-@dangerous'], "NOPERM .*'info' command"],
])('a Redis user who %s is refused, with the rights to grant', async (_, rights, lacking) => {
  const { workplace, site, redis, keyPrefix } = await openFleet();
  const env = await addUser(redis, keyPrefix, [...NOTHING, `~${keyPrefix}*`, ...rights]);
  const { code, stderr } = await workplace.start(['produce', site.url('/page/1')], undefined, { env }).ended;
  expect({ code, stderr }).toMatchObject({ code: 78, stderr: expect.stringMatching(lacking) });
  expect(stderr).toContain(`Grant it: ${grantOf(keyPrefix)}`);
});

test('a read-only Redis user can run trawl status', async () => {
  const { workplace, site, redis, keyPrefix } = await openFleet();
  await workplace.json(['produce', site.url('/page/1'), '--run', 'mine']);
  const env = await addUser(redis, keyPrefix, ['+@all', '-@write', `%R~${keyPrefix}*`]);
  const { stdout } = await workplace.start(['status', 'mine', '--json'], undefined, { env }).ended;
  expect(JSON.parse(stdout)).toMatchObject({ discovered: 1 });
});
