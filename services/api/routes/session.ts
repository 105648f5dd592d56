import { z } from 'zod';
import { callerOfSecret } from '../access/access.ts';
import type { Allowance } from '../access/allowance.ts';
import { cookieHeader } from '../access/sessions.ts';
import { LOCAL_CALLER } from '../access/tokens.ts';
import { problemSchema } from '../http/problem.ts';
import type { Api, ApiParts } from '../parts.ts';
import { callerSchema } from '../schemas/answers.ts';

/** Adds the routes of browser sessions, which exist because a browser's event source can't send a token. */
export function addSessionRoutes(app: Api, { tokens, sessions, link }: ApiParts, failures: Allowance): void {
  const isSecure = (protocol: string, forwarded: unknown): boolean => protocol === 'https' || forwarded === 'https';
  const tags = ['session'];
  app.get(
    '/api/session',
    {
      schema: {
        tags,
        operationId: 'getSession',
        summary: "The caller's name and role",
        response: { 200: callerSchema },
      },
    },
    async ({ caller = LOCAL_CALLER }) => ({ ...caller, needsToken: !tokens.isEmpty, isLocal: link.isLocal }),
  );
  app.post(
    '/api/session',
    {
      config: { role: 'session' },
      schema: {
        tags,
        operationId: 'beginSession',
        summary: 'Begin a session',
        security: [],
        body: z.strictObject({ token: z.string().min(1).max(1_024) }),
        response: { 204: z.null(), 401: problemSchema },
      },
    },
    async ({ body, ip, protocol, headers }, reply) => {
      if (!tokens.isEmpty) {
        const caller = callerOfSecret(body.token, ip, tokens, failures);
        const value = sessions.begin(caller, headers.cookie);
        reply.header('set-cookie', cookieHeader(value, isSecure(protocol, headers['x-forwarded-proto'])));
      }
      return reply.code(204).send(null);
    },
  );
  app.delete(
    '/api/session',
    {
      config: { role: 'session' },
      schema: {
        tags,
        operationId: 'endSession',
        summary: 'End the session',
        security: [],
        response: { 204: z.null() },
      },
    },
    async ({ protocol, headers }, reply) => {
      const value = sessions.end(headers.cookie);
      reply.header('set-cookie', cookieHeader(value, isSecure(protocol, headers['x-forwarded-proto'])));
      return reply.code(204).send(null);
    },
  );
}
