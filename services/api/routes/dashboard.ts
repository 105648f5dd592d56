import { existsSync } from 'node:fs';
import { join } from 'node:path';
import fastifyStatic from '@fastify/static';
import type { Api } from '../parts.ts';

const DIST = join(import.meta.dirname, '..', 'dashboard', 'dist');
const NOT_BUILT = 'The dashboard is not built here: npm run dashboard, then start this command again.\n';

/** Adds the dashboard if it was built, else a text that says how. Its files contain nothing secret and need no token. */
export function addDashboard(app: Api): void {
  if (existsSync(join(DIST, 'index.html'))) {
    app.register(async (scope) => {
      scope.addHook('onRoute', (route) => {
        route.config = { ...route.config, role: 'none' };
        route.schema = { ...route.schema, hide: true };
      });
      scope.addHook('onSend', async (request, reply) => {
        if (reply.statusCode < 400) reply.header('cache-control', cachingOf(request.url));
      });
      await scope.register(fastifyStatic, { root: DIST, cacheControl: false });
    });
    return;
  }
  app.get('/', { config: { role: 'none' }, schema: { hide: true } }, async (_, reply) =>
    reply.type('text/plain; charset=utf-8').send(NOT_BUILT),
  );
}

/** Lets browsers keep scripts and styles for ever, as their names contain a hash of their content. The page itself is revalidated each time. */
function cachingOf(url: string): string {
  return url.startsWith('/assets/') ? 'public, max-age=31536000, immutable' : 'no-cache';
}
