import { ConfigurationError } from '../../../runtime/errors.ts';
import { quoted } from '../../../runtime/started-as.ts';

/** The least rights that an ACL user needs, beside its keys. */
export const LEAST_RIGHTS: readonly string[] = [
  ...['+@read', '+@write', '+@connection', '+@scripting', '+@transaction'],
  ...['+time', '+info', '+config|get'],
];

/** Returns the command that grants all rights that a fleet needs, for a shell: one of them has a `|` in it. */
export function grantOf(prefix: string): string {
  return `redis-cli ACL SETUSER USER ${[`~${prefix}*`, ...LEAST_RIGHTS].map(quoted).join(' ')}`;
}

/** Returns an error that names the rights that a user lacks on the fleet's keys, and the command that grants them. */
export function lackingRights(prefix: string, lacking: string): ConfigurationError {
  const problem = `the Redis user lacks rights on keys ${prefix}*: ${lacking}`;
  return new ConfigurationError([`${problem}. Grant it: ${grantOf(prefix)}`]);
}

/** Returns an error about commands that the server has not, or by other names. @param which their names, as the end of a clause */
export function missingCommands(which: string): ConfigurationError {
  const mend = 'Check rename-command in its configuration: Trawl needs them by their own names';
  return new ConfigurationError([`Redis lacks commands${which}. ${mend}`]);
}
