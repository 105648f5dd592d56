import { ConfigurationError } from '../../../runtime/errors.ts';

/** What an ACL user needs at least, beside its keys. */
export const LEAST_RIGHTS = '+@read +@write +@connection +@scripting +@transaction +time +info +config|get';

/** The command that grants all that a fleet needs. */
export function grantOf(prefix: string): string {
  return `redis-cli ACL SETUSER USER '~${prefix}*' ${LEAST_RIGHTS}`;
}

/** What a user lacks on the fleet's keys, and what grants it. */
export function lackingRights(prefix: string, lacking: string): ConfigurationError {
  const problem = `Redis lets its user not do all that is needed on keys ${prefix}*: ${lacking}`;
  return new ConfigurationError([`${problem}. Grant it: ${grantOf(prefix)}`]);
}
