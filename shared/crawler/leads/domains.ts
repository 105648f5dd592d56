import type { Scope } from '../../task/url/scope.ts';

/** Returns a function from a host name to its registrable domain. Loads the public suffix list only for scope `domain`. */
export async function domainFinder(scope: Scope): Promise<(hostname: string) => string> {
  if (scope !== 'domain') return (hostname) => hostname;
  return (await import('../../task/url/registrable-domain.ts')).registrableDomainOf;
}
