/** What an ACL user needs at least, beside its keys. */
export const LEAST_RIGHTS = '+@read +@write +@connection +@scripting +@transaction +time +info +config|get';

/** The command that grants all that a fleet needs. */
export function grantOf(prefix: string): string {
  return `redis-cli ACL SETUSER USER '~${prefix}*' ${LEAST_RIGHTS}`;
}
