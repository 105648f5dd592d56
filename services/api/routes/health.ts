import { z } from 'zod';
import { Problem, problemSchema } from '../http/problem.ts';
import type { Api, ApiParts } from '../parts.ts';

/** Adds the routes for liveness, readiness, metrics and the OpenAPI document. */
export function addHealthRoutes(app: Api, { link, metrics }: ApiParts): void {
  const schema = { security: [], tags: ['service'], response: { 200: z.object({ ok: z.literal(true) }) } };
  const config = { role: 'none' } as const;
  app.get(
    '/healthz',
    { config, schema: { ...schema, operationId: 'getHealth', summary: 'Is the process alive?' } },
    async () => ({
      ok: true as const,
    }),
  );
  const ready = {
    ...schema,
    operationId: 'getReadiness',
    summary: 'Are its services reachable?',
    response: { ...schema.response, 503: problemSchema },
  };
  app.get('/readyz', { config, schema: ready }, async () => {
    if (link.away.length > 0) throw new Problem('unavailable', link.away.join('; '), { retryAfterMs: 5_000 });
    return { ok: true as const };
  });
  app.get(
    '/metrics',
    {
      config: { types: ['text/plain'] },
      schema: {
        tags: ['service'],
        operationId: 'getMetrics',
        summary: 'Metrics in the Prometheus text format',
        response: { 200: z.string() },
      },
    },
    async (_, reply) => reply.type('text/plain; version=0.0.4; charset=utf-8').send(await metrics.text()),
  );
  // One for all answers, as it is large and needs no token.
  let document: Buffer | undefined;
  app.get('/openapi.json', { schema: { hide: true }, config }, async (_, reply) => {
    document ??= Buffer.from(JSON.stringify(app.swagger()));
    return reply.type('application/json').send(document);
  });
}
