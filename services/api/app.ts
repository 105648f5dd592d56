import { randomUUID } from 'node:crypto';
import fastifySwagger from '@fastify/swagger';
import Fastify, { type FastifyReply, type FastifyRequest } from 'fastify';
import { validatorCompiler, type ZodTypeProvider } from 'fastify-type-provider-zod';
import { messageOf } from '../../shared/runtime/errors.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import { wellFormedJson } from '../../shared/runtime/printable.ts';
import { SECOND_MS } from '../../shared/task/durations.ts';
import { addAccess, newFailures } from './access/access.ts';
import { ANSWER_HEADERS } from './http/answer-headers.ts';
import { noteAnswers } from './http/answers-under-way.ts';
import { addBodyParsers } from './http/bodies.ts';
import { boundConnections } from './http/connections.ts';
import { DOCUMENT } from './http/openapi-document.ts';
import { MOST_OF_PATH_PART, Problem, problemOf, sendProblem } from './http/problem.ts';
import { checkHeads } from './http/request-head.ts';
import { answerUnread } from './http/unread-request.ts';
import type { Api, ApiParts } from './parts.ts';
import { addBatchRoutes } from './routes/batch.ts';
import { addCrawlerRoutes } from './routes/crawlers.ts';
import { addDashboard } from './routes/dashboard.ts';
import { addDeadLetterRoutes } from './routes/dead-letters.ts';
import { addEventRoutes } from './routes/events.ts';
import { addFleetRoutes } from './routes/fleet.ts';
import { addHealthRoutes } from './routes/health.ts';
import { addHostRoutes } from './routes/hosts.ts';
import { addRecordRoutes } from './routes/records.ts';
import { addRunRoutes } from './routes/runs.ts';
import { addSessionRoutes } from './routes/session.ts';
import { addUrlRoutes } from './routes/urls.ts';
import { addWebhookRoutes } from './routes/webhooks.ts';
import { addWrongMethods, notePaths } from './routes/wrong-method.ts';

/** Longest time until a request has arrived, body included. */
const BODY_WITHIN_MS = 30 * SECOND_MS;
/**
 * How long an idle connection is kept. Longer than proxies and load balancers keep theirs (mostly a minute), so that they close it first:
 * a connection closed at this end might just have been sent a request.
 */
const IDLE_KEPT_MS = 75 * SECOND_MS;
/** Maximum bytes of a request's body. Routes that take lists allow more. */
const MOST_BODY_BYTES = 256 * 1024;
/** Time between two checks for late requests. */
const LATE_CHECKED_EVERY_MS = 5 * SECOND_MS;

/** Returns the API as a Fastify instance that is ready but doesn't listen yet. */
export async function openApp(parts: ApiParts): Promise<Api> {
  const app = Fastify({
    logger: false,
    trustProxy: [...parts.settings.apiProxies],
    bodyLimit: MOST_BODY_BYTES,
    requestTimeout: BODY_WITHIN_MS,
    // If `headersTimeout` were longer than `requestTimeout`, Node would give the body that longer time.
    http: {
      headersTimeout: BODY_WITHIN_MS,
      connectionsCheckingInterval: LATE_CHECKED_EVERY_MS,
      requireHostHeader: false,
    },
    frameworkErrors: (error, _, reply) => sendProblem(problemOf(error), reply.headers(ANSWER_HEADERS)),
    clientErrorHandler: answerUnread,
    keepAliveTimeout: IDLE_KEPT_MS,
    forceCloseConnections: true,
    routerOptions: { maxParamLength: MOST_OF_PATH_PART, ignoreTrailingSlash: true },
    genReqId: () => randomUUID(),
  }).withTypeProvider<ZodTypeProvider>() as unknown as Api;
  boundConnections(app);
  noteAnswers(app);
  checkHeads(app);
  app.setValidatorCompiler(validatorCompiler);
  // The tests check answers against their schemas. In production an answer that differs is still better than none.
  app.setSerializerCompiler(() => (answer) => wellFormedJson(JSON.stringify(answer)));
  addBodyParsers(app);
  app.setErrorHandler((error: unknown, request, reply) => answerProblem(error, request, reply, parts.log));
  app.setNotFoundHandler((_, reply) => sendProblem(new Problem('not_found', 'there is nothing here'), reply));
  app.addHook('onSend', async (_, reply) => {
    reply.headers(ANSWER_HEADERS);
    if (!reply.hasHeader('cache-control')) reply.header('cache-control', 'no-store');
  });
  app.addHook('onResponse', async ({ routeOptions, method }, reply) => {
    // The handler of wrong methods is registered for many methods at once: it counts as no route.
    const route = Array.isArray(routeOptions.method) ? undefined : routeOptions.url;
    parts.metrics.served(route ?? 'none', method, reply.statusCode, reply.elapsedTime);
  });
  await app.register(fastifySwagger, DOCUMENT);
  const failures = newFailures(parts);
  addAccess(app, parts, failures);
  await app.register(async (scope) => {
    const api = scope as unknown as Api;
    const paths = notePaths(api);
    for (const add of [
      addHealthRoutes,
      (each: Api) => addSessionRoutes(each, parts, failures),
      addFleetRoutes,
      addRunRoutes,
      addCrawlerRoutes,
      addDeadLetterRoutes,
      addHostRoutes,
      addRecordRoutes,
      addUrlRoutes,
      addBatchRoutes,
      addWebhookRoutes,
      addEventRoutes,
      addDashboard,
    ])
      add(api, parts);
    addWrongMethods(api, paths);
  });
  await app.ready();
  return app;
}

function answerProblem(error: unknown, request: FastifyRequest, reply: FastifyReply, log: Logger): FastifyReply {
  const problem = problemOf(error, request.routeOptions.bodyLimit);
  if (problem.code === 'internal') {
    const stack = error instanceof Error ? error.stack : messageOf(error);
    log.error({ route: request.routeOptions.url, error: stack }, 'a request failed:');
  }
  return sendProblem(problem, reply);
}
