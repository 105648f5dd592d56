import { Problem } from '../http/problem.ts';
import type { Api } from '../parts.ts';

/** Which methods each path of an API has, noted as its routes are added. */
export function notePaths(app: Api): Map<string, Set<string>> {
  const paths = new Map<string, Set<string>>();
  app.addHook('onRoute', ({ url, method }) => {
    paths.set(url, new Set([...(paths.get(url) ?? []), ...[method].flat()]));
  });
  return paths;
}

/** Tells whoever asks a path by a method that it doesn't have which ones it has. */
export function addWrongMethods(app: Api, paths: ReadonlyMap<string, ReadonlySet<string>>): void {
  for (const [url, methods] of [...paths]) {
    // The dashboard's files are any path.
    if (url.includes('*')) continue;
    const allow = [...methods].sort().join(', ');
    app.route({
      url,
      method: app.supportedMethods.filter((method) => !methods.has(method)),
      config: { role: 'read' },
      schema: { hide: true },
      // Before its body is read, whatever that is.
      onRequest: async (_, reply) => {
        reply.header('allow', allow);
        throw new Problem('method_not_allowed', `there is only ${allow} here`);
      },
      handler: async () => {},
    });
  }
}
