import { Problem } from '../http/problem.ts';
import type { Api } from '../parts.ts';

/** Returns the methods of each path, filled in as routes are added. */
export function notePaths(app: Api): Map<string, Set<string>> {
  const paths = new Map<string, Set<string>>();
  app.addHook('onRoute', ({ url, method }) => {
    paths.set(url, new Set([...(paths.get(url) ?? []), ...[method].flat()]));
  });
  return paths;
}

/** Adds a route for each path's other methods, which answers 405 with the methods that exist. */
export function addWrongMethods(app: Api, paths: ReadonlyMap<string, ReadonlySet<string>>): void {
  for (const [url, methods] of [...paths]) {
    // The route of the dashboard's files matches any path.
    if (url.includes('*')) continue;
    const allow = [...methods].sort().join(', ');
    app.route({
      url,
      method: app.supportedMethods.filter((method) => !methods.has(method)),
      config: { role: 'read' },
      schema: { hide: true },
      // Answered before the body is read.
      onRequest: async (_, reply) => {
        reply.header('allow', allow);
        throw new Problem('method_not_allowed', `this path allows only ${allow}`);
      },
      handler: async () => {},
    });
  }
}
