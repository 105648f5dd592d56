import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { OpenAPIV3_1 } from 'openapi-types';
import { ApiServer } from '../services/api/server.ts';
import { silentLog } from '../shared/runtime/logger.ts';
import { settingsFrom } from '../shared/settings/settings.ts';

/** Markers around the generated part of docs/api.md. */
export const REFERENCE_START = '<!-- reference: npm run docs -->';
export const REFERENCE_END = '<!-- /reference -->';

type Document = OpenAPIV3_1.Document;
type Operation = OpenAPIV3_1.OperationObject & { readonly 'x-role'?: string };
type Schema = OpenAPIV3_1.SchemaObject;

/** Levels of nested objects that are written out. */
const MOST_DEPTH = 3;
/** Values of an enumeration that are written out. */
const MOST_VALUES = 12;
const WHO: Readonly<Record<string, string>> = { none: 'no token', session: 'any token' };

/** Returns the OpenAPI document of an API over an empty folder. */
export async function openApiDocument(): Promise<Document> {
  const folder = await mkdtemp(join(tmpdir(), 'trawl-docs-'));
  const settings = settingsFrom({ flag: {}, environment: { API_PORT: '0', OUTPUT_DIR: folder }, file: {} });
  const server = new ApiServer({ settings, log: silentLog, isLocal: true });
  try {
    await server.start();
    return (await (await fetch(new URL('/openapi.json', server.url))).json()) as Document;
  } finally {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Returns the reference of docs/api.md: every route, with the role it needs, its inputs and its answers. */
export function apiReference({ paths = {} }: Document): string {
  const byTag = new Map<string, string[]>();
  for (const [path, methods] of Object.entries(paths))
    for (const [method, operation] of Object.entries(methods as Record<string, Operation>)) {
      const [tag = 'others'] = operation.tags ?? [];
      byTag.set(tag, [...(byTag.get(tag) ?? []), routeText(path, method, operation)]);
    }
  const chapters = [...byTag].map(
    ([tag, routes]) => `### ${tag[0]?.toUpperCase()}${tag.slice(1)}\n\n${routes.join('\n')}`,
  );
  return `${chapters.join('\n')}\n`;
}

function routeText(path: string, method: string, operation: Operation): string {
  const {
    summary = '',
    description,
    parameters = [],
    requestBody,
    responses = {},
    'x-role': role = 'read',
  } = operation;
  const lines = [
    `**\`${method.toUpperCase()} ${path}\`** · ${WHO[role] ?? role} · ${summary}${description === undefined ? '' : `. ${description}`}`,
    '',
  ];
  for (const where of ['query', 'header'] as const) {
    const named = (parameters as OpenAPIV3_1.ParameterObject[]).filter((parameter) => parameter.in === where);
    const fields = named.map(({ name, required, schema = {}, description: said }) =>
      fieldText(
        name,
        { ...(said === undefined ? {} : { description: said }), ...(schema as Schema) },
        required === true,
      ),
    );
    if (fields.length > 0) lines.push(`- ${where}: ${fields.join(', ')}`);
  }
  const body = (requestBody as OpenAPIV3_1.RequestBodyObject | undefined)?.content?.['application/json']?.schema;
  if (body !== undefined) lines.push(`- body: ${typeText(body as Schema)}`);
  const problems = Object.keys(responses).filter((status) => Number(status) >= 400);
  for (const [status, response] of Object.entries(responses)) {
    // Any route can answer with any problem; the page says so once.
    if (Number(status) >= 400 || status === 'default') continue;
    const [{ schema } = {}] = Object.values((response as OpenAPIV3_1.ResponseObject).content ?? {}) as {
      readonly schema?: Schema;
    }[];
    lines.push(`- ${status}: ${schema === undefined ? 'no body' : typeText(schema)}`);
  }
  if (problems.length > 0) lines.push(`- problems: ${problems.join(', ')}`);
  return `${lines.join('\n')}\n`;
}

function fieldText(name: string, schema: Schema, isRequired: boolean, depth = 0): string {
  const said = schema.description === undefined || depth > 1 ? '' : ` (${schema.description})`;
  return `\`${name}${isRequired ? '' : '?'}\` ${bareTypeText(schema, depth)}${said}`;
}

function typeText(schema: Schema): string {
  const text = bareTypeText(schema, 0);
  return schema.description === undefined ? text : `${text}: ${schema.description}`;
}

function bareTypeText(schema: Schema, depth: number): string {
  const { type, enum: values, const: only, properties, items } = schema as Schema & { items?: Schema };
  const any = (schema.anyOf ?? schema.oneOf) as Schema[] | undefined;
  if (any !== undefined) return [...new Set(any.map((each) => bareTypeText(each, depth)))].join(' or ');
  if (only !== undefined) return JSON.stringify(only);
  if (values !== undefined) {
    const shown = values.slice(0, MOST_VALUES).map((value) => `\`${String(value)}\``);
    return `${shown.join(', ')}${values.length > MOST_VALUES ? ' …' : ''}`.replace(/, (?=[^,]*$)/, ' or ');
  }
  if (type === 'array') return `list of ${bareTypeText(items ?? {}, depth)}`;
  if (properties !== undefined) {
    if (depth >= MOST_DEPTH) return 'object';
    const { required = [] } = schema;
    const fields = Object.entries(properties).map(([name, each]) =>
      fieldText(name, each as Schema, required.includes(name), depth + 1),
    );
    return `{ ${fields.join(', ')} }`;
  }
  return [type ?? 'anything'].flat().join(' or ');
}
