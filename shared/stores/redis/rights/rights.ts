import type { Redis } from 'ioredis';
import { messageOf } from '../../../runtime/errors.ts';
import { Scripts } from '../scripts.ts';
import { COMMANDS } from './commands.ts';
import { lackingRights } from './least-rights.ts';

/** What Redis answers to a command, or one of a script, that the user may not run, or not on that key. */
const REFUSAL = /^NOPERM|^ERR The user executing the script can't|^ERR ACL failure in script/;
/** Behind that: which script it was. */
const OF_SCRIPT = / script: [0-9a-f]{40}[\s\S]*$/;

/**
 * Looks whether the user of a connection may do all that a fleet does: what one script lacks is told by that script alone.
 *
 * @throws ConfigurationError with what it lacks
 */
export async function checkRights(redis: Redis, prefix: string): Promise<void> {
  const lacking = await findLacking(redis, prefix);
  if (lacking !== undefined) throw lackingRights(prefix, lacking);
}

async function findLacking(redis: Redis, prefix: string): Promise<string | undefined> {
  try {
    // Only a script that the server doesn't know is sent by it: the user would be refused after a restart.
    await redis.eval('return 1', 0);
    const scripts = new Scripts({ redis, prefix });
    const lacking = (await scripts.run('rights', ...Object.keys(COMMANDS))) as readonly string[];
    if (lacking.length === 0) return undefined;
    return lacking.length === Object.keys(COMMANDS).length ? 'none of them is its own' : lacking.join(', ');
  } catch (error: unknown) {
    const reason = messageOf(error);
    if (!REFUSAL.test(reason)) throw error;
    return reason.replace(OF_SCRIPT, '');
  }
}
