import { z } from 'zod';

interface Schema {
  readonly $ref?: string;
}
interface Described {
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, { schema: Schema }>> }>>;
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/** Problems that no route lists: a request that came too slowly, headers that are too large, and internal errors. */
const OF_NO_ROUTE = new Set([408, 431, 500]);

/** An answer to check. */
interface Told {
  readonly status: number;
  /** The media type, without parameters. */
  readonly type: string;
  /** Undefined for a body that isn't JSON. */
  readonly json: unknown;
}

/** Checks the answers of an API against its own OpenAPI document. */
export class DescribedAnswers {
  readonly #operations: readonly { readonly method: string; readonly path: RegExp; readonly described: Described }[];
  readonly #schemas = new Map<object, z.ZodType>();
  readonly #named: Document['components']['schemas'];

  constructor({ paths, components }: Document) {
    this.#named = components.schemas;
    this.#operations = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, described]) => ({ method, path: templateOf(path), described })),
    );
  }

  /** What differs from the description, in words; undefined for an answer as described, or of a path that has none. */
  problemOf(method: string, path: string, { status, type, json }: Told): string | undefined {
    const found = this.#operations.find((each) => each.method === method.toLowerCase() && each.path.test(path));
    if (found === undefined) return undefined;
    const { responses } = found.described;
    const described = responses[status] ?? (OF_NO_ROUTE.has(status) ? responses.default : undefined);
    if (described === undefined) return `${method} ${path} answers ${status}, which it doesn't describe`;
    const { content } = described;
    if (content === undefined) return undefined;
    const schema = content[type]?.schema;
    if (schema === undefined) return `${method} ${path} answers ${status} as ${type}, not as ${Object.keys(content)}`;
    if (json === undefined) return undefined;
    const read = this.#schemaOf(schema).safeParse(json);
    if (!read.success) return `${method} ${path} differs from its description: ${z.prettifyError(read.error)}`;
    const unnamed = unnamedIn(json, schema);
    return unnamed.length === 0 ? undefined : `${method} ${path} has fields that its description lacks: ${unnamed}`;
  }

  #schemaOf(described: Schema): z.ZodType {
    const schema = this.#named[described.$ref?.split('/').at(-1) ?? ''] ?? described;
    const known = this.#schemas.get(schema) ?? z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0]);
    this.#schemas.set(schema, known);
    return known;
  }
}

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
}

/** Returns the fields of an answer that its schema doesn't name, with their places. */
function unnamedIn(json: unknown, { properties, items }: Schema, place = ''): string[] {
  if (Array.isArray(json)) {
    return items === undefined ? [] : [...new Set(json.flatMap((each) => unnamedIn(each, items, `${place}[]`)))];
  }
  if (typeof json !== 'object' || json === null || properties === undefined) return [];
  return Object.entries(json).flatMap(([name, value]) => {
    const schema = properties[name];
    const field = place === '' ? name : `${place}.${name}`;
    return schema === undefined ? [field] : unnamedIn(value, schema, field);
  });
}

/** Returns a regular expression for paths like `/api/runs/{run}`. Paths without a parameter come first in the document. */
function templateOf(path: string): RegExp {
  const parts = path.split(/\{\w+\}/).map((part) => RegExp.escape(part));
  return new RegExp(`^${parts.join('[^/]+')}$`);
}
