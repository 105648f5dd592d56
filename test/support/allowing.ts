import { type AllowedPrivate, parsePrivateHosts } from '../../shared/task/host/private-address.ts';

/** The entries of a `PRIVATE_HOSTS` that has no mistake. */
export function allowing(...entries: string[]): AllowedPrivate {
  const parsed = parsePrivateHosts(entries);
  if ('problems' in parsed) throw new Error(parsed.problems.join('\n'));
  return parsed;
}
