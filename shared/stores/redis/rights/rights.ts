import type { Redis } from 'ioredis';
import { ConfigurationError, messageOf } from '../../../runtime/errors.ts';
import { Scripts } from '../scripts.ts';
import { COMMANDS } from './commands.ts';
import { lackingRights } from './least-rights.ts';

/** Redis' answer to a command, alone or in a script, that the user may not run at all, or not on that key. */
const REFUSAL = /^NOPERM|^ERR The user executing the script can't|^ERR ACL failure in script/;
/** Its answer to a command that its configuration has renamed or disabled. */
const UNKNOWN = /^ERR unknown command '\w+'|^ERR Unknown Redis command/;
/** The end of that answer, which names the script. */
const OF_SCRIPT = / script: [0-9a-f]{40}[\s\S]*$/;

/**
 * Checks whether the user of a connection may run all commands of a fleet. A script checks only its own commands.
 *
 * @throws ConfigurationError that names the missing rights
 */
export async function checkRights(redis: Redis, prefix: string): Promise<void> {
  const lacking = await findLacking(redis, prefix);
  if (lacking !== undefined) throw lackingRights(prefix, lacking);
}

async function findLacking(redis: Redis, prefix: string): Promise<string | undefined> {
  try {
    // EVAL is otherwise used only for scripts that the server doesn't know, so a user without it would be refused after a restart.
    await redis.eval('return 1', 0);
    const scripts = new Scripts({ redis, prefix });
    const lacking = (await scripts.run('rights', ...Object.keys(COMMANDS))) as readonly string[];
    if (lacking.length === 0) return undefined;
    return lacking.length === Object.keys(COMMANDS).length ? 'it has no access to them' : lacking.join(', ');
  } catch (error: unknown) {
    const reason = messageOf(error);
    const [unknown] = UNKNOWN.exec(reason) ?? [];
    if (unknown !== undefined) {
      const problem = `Redis lacks a command: ${unknown}. Check rename-command in its configuration: Trawl needs this command`;
      throw new ConfigurationError([problem], { cause: error });
    }
    if (!REFUSAL.test(reason)) throw error;
    return reason.replace(OF_SCRIPT, '');
  }
}
