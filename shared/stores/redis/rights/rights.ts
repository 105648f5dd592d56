import { type Redis, ReplyError } from 'ioredis';
import { messageOf } from '../../../runtime/errors.ts';
import { Scripts } from '../scripts.ts';
import { COMMANDS } from './commands.ts';
import { lackingRights, missingCommands } from './least-rights.ts';

/** Redis' answer to a command, alone or in a script, that the user may not run at all, or not on that key. */
const REFUSAL = /^NOPERM|^ERR The user executing the script can't|^ERR ACL failure in script/;
/** The end of that answer, which names the script. */
const OF_SCRIPT = / script: [0-9a-f]{40}[\s\S]*$/;
/** The other commands that a fleet can't do without: those that run scripts and transactions, and the scripts' clock. */
const KEYLESS = ['EVAL', 'EVALSHA', 'EXEC', 'MULTI', 'TIME'];

/**
 * Checks whether a server has all commands of a fleet, and the user of a connection may run them. A script checks only its own commands.
 *
 * @throws ConfigurationError that names the missing commands or rights
 */
export async function checkRights(redis: Redis, prefix: string): Promise<void> {
  const missing = await findMissing(redis);
  if (missing.length > 0) throw missingCommands(`: ${missing.join(', ')}`);
  const lacking = await findLacking(redis, prefix);
  if (lacking !== undefined) throw lackingRights(prefix, lacking);
}

/** Returns the commands that the server doesn't have by these names. */
async function findMissing(redis: Redis): Promise<string[]> {
  const names = [...Object.keys(COMMANDS), ...KEYLESS];
  try {
    const known = await redis.command('INFO', ...names);
    return names.filter((_, at) => known[at] === null);
  } catch (error: unknown) {
    // It may be forbidden to ask. A script that needs a missing command then fails before it has written anything.
    if (error instanceof ReplyError) return [];
    throw error;
  }
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
    if (!REFUSAL.test(reason)) throw error;
    return reason.replace(OF_SCRIPT, '');
  }
}
