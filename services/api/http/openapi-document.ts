import type { FastifyDynamicSwaggerOptions } from '@fastify/swagger';
import { jsonSchemaTransform } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { VERSION } from '../../../shared/runtime/version.ts';
import { roleOf } from '../access/access.ts';
import { PROBLEM_TYPE, problemSchema } from './problem.ts';

/** Key that holds the media types of a route's answers until the document is finished. */
const TYPES = 'x-types';
const JSON_TYPE = 'application/json';

interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly description?: string;
  readonly anyOf?: readonly Schema[];
}
interface Answer {
  description: string;
  content?: Record<string, { schema: Schema }>;
}
interface Operation {
  [TYPES]?: readonly string[];
  readonly 'x-role'?: string;
  readonly parameters?: readonly unknown[];
  readonly requestBody?: { required?: boolean; content: Record<string, { schema: Schema }> };
  responses: Record<string, Answer>;
}
type Paths = Record<string, Record<string, Operation>>;

const { $schema: _, ...PROBLEM_SCHEMA } = z.toJSONSchema(problemSchema);
const PROBLEM: Answer = {
  description: 'Why a request was refused (RFC 9457).',
  content: { [PROBLEM_TYPE]: { schema: { $ref: '#/components/schemas/Problem' } } },
};
const OTHER_PROBLEM: Answer = {
  ...PROBLEM,
  description:
    'Any other problem: 408 for a request that came too slowly, 417 for an unknown Expect, 431 for a URL or headers that are too long, 500 for an internal error.',
};

/** Options that build the OpenAPI document from the routes' schemas. */
export const DOCUMENT: FastifyDynamicSwaggerOptions = {
  stripBasePath: false,
  openapi: {
    openapi: '3.1.0',
    info: {
      title: 'Trawl',
      version: VERSION,
      description: 'The control plane of a crawler fleet: what its command line does, over HTTP.',
    },
    // Relative to the document, so it also works below a path of a proxy.
    servers: [{ url: '.' }],
    components: {
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer' },
        session: { type: 'apiKey', in: 'cookie', name: 'trawl_session' },
      },
      schemas: { Problem: PROBLEM_SCHEMA as object },
    },
    security: [{ token: [] }, { session: [] }],
  },
  transform: (about) => {
    const { config, method } = about.route;
    const { schema, url } = jsonSchemaTransform(about as Parameters<typeof jsonSchemaTransform>[0]);
    const types = config?.types === undefined ? {} : { [TYPES]: config.types };
    return { schema: { ...schema, 'x-role': roleOf(config, String(method)), ...types }, url };
  },
  transformObject: (document) => ('openapiObject' in document ? finished(document.openapiObject) : {}),
};

/**
 * Completes the document with what the routes' schemas don't express: the media type and schema of problems, problems that any route can
 * answer, answers that are not JSON, and request bodies that can be left out.
 */
function finished<T extends { readonly paths?: object }>(document: T): T {
  const operations = Object.values((document.paths ?? {}) as Paths).flatMap((methods) => Object.entries(methods));
  for (const [method, operation] of operations) {
    for (const status of problemsBefore(method, operation)) operation.responses[status] = PROBLEM;
    const { [TYPES]: types = [JSON_TYPE], requestBody, responses } = operation;
    delete operation[TYPES];
    for (const [status, answer] of Object.entries(responses)) {
      if (Number(status) >= 400) responses[status] = PROBLEM;
      else nameTypes(answer, types);
    }
    responses.default = OTHER_PROBLEM;
    const body = requestBody?.content[JSON_TYPE];
    const meant = body?.schema.anyOf?.filter(({ type }) => type !== 'null') ?? [];
    if (requestBody === undefined || meant.length !== 1) continue;
    requestBody.required = false;
    requestBody.content[JSON_TYPE] = { schema: { ...meant[0] } };
  }
  return document;
}

/** Returns the statuses of problems raised before the route runs, by access, rate and body checks. No route's schema lists them. */
function problemsBefore(method: string, { 'x-role': role, parameters = [] }: Operation): number[] {
  const takesBody = method !== 'get';
  return [
    ...(takesBody || parameters.length > 0 ? [400] : []),
    ...(role === 'none' ? [] : [403, 429]),
    // The session route checks the token itself.
    ...(role === 'none' || role === 'session' ? [] : [401]),
    ...(takesBody ? [413, 415] : []),
  ];
}

/** Sets an answer's media types. JSON keeps the route's schema; other types are described as text. */
function nameTypes(answer: Answer, types: readonly string[]): void {
  const described = answer.content?.[JSON_TYPE];
  if (described === undefined) return;
  const { description } = described.schema;
  const text = { schema: { type: 'string', ...(description === undefined ? {} : { description }) } };
  answer.content = Object.fromEntries(types.map((type) => [type, type === JSON_TYPE ? described : text]));
}
