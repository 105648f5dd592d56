import type { Scope } from '../../../shared/task/url/scope.ts';

/** The registered domain of a host name, for scope `domain`; the list behind it is loaded when it is needed. */
export async function domainFinder(scope: Scope): Promise<(hostname: string) => string> {
  if (scope !== 'domain') return (hostname) => hostname;
  return (await import('../../../shared/task/url/registrable-domain.ts')).registrableDomainOf;
}
