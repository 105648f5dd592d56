import { type AllowedPrivate, parsePrivateHosts } from '../../shared/task/host/private-address.ts';

/** Parses entries of `PRIVATE_HOSTS`; throws if one is wrong. */
export function allowing(...entries: string[]): AllowedPrivate {
  const parsed = parsePrivateHosts(entries);
  if ('problems' in parsed) throw new Error(parsed.problems.join('\n'));
  return parsed;
}
