/** The commands that the scripts and stores run on the fleet's keys, each with the fewest arguments that it takes after the key. */
// biome-ignore format: a list
export const COMMANDS: Readonly<Record<string, number>> = {
  DEL: 0, EXISTS: 0, GET: 0, HDEL: 1, HEXISTS: 1, HGET: 1, HGETALL: 0, HINCRBY: 2, HLEN: 0, HMGET: 1, HSCAN: 1, HSET: 2, HSETNX: 2,
  INCR: 0, LLEN: 0, LPOP: 0, LPUSH: 1, LRANGE: 2, LTRIM: 2, PEXPIRE: 1, PTTL: 0, RPUSH: 1, SADD: 1, SCAN: 0, SCARD: 0, SET: 1,
  SISMEMBER: 1, SMEMBERS: 0, SMISMEMBER: 1, SREM: 1, SSCAN: 1, UNLINK: 0, ZADD: 2, ZCARD: 0, ZCOUNT: 2, ZPOPMIN: 0, ZRANGE: 2,
  ZRANGEBYSCORE: 2, ZREM: 1, ZREMRANGEBYSCORE: 2, ZREVRANGE: 2, ZREVRANGEBYSCORE: 2, ZSCAN: 1, ZSCORE: 1,
};

/** The beginning of a script's answer if its user lacks rights; the commands concerned follow. */
export const NO_RIGHTS = 'NORIGHTS';

/** A command in quotes: how a script calls it, or names it for a function that does. */
const QUOTED = /(?<=')[A-Z]+(?=')/g;

/**
 * Returns the beginning of a script that writes: unless its user may run all its commands on the fleet's keys, the script ends before
 * it has written anything. Redis alone would refuse only the one command and keep what the script wrote before it, and a half-written
 * task is lost.
 */
export function rightsGuard(script: string): string {
  const quoted = new Set(script.match(QUOTED));
  const looks = Object.entries(COMMANDS)
    .filter(([command]) => quoted.has(command))
    .map(
      ([command, least]) =>
        `    if not may('${command}', key${", '1'".repeat(least)}) then lacking = lacking .. ', ${command}' end`,
    );
  return `do
  local may, key, lacking = redis.acl_check_cmd, ARGV[1] .. 'runs', ''
  if may then
${looks.join('\n')}
  end
  if lacking ~= '' then return {err = '${NO_RIGHTS}' .. string.sub(lacking, 2)} end
end
`;
}
