import { z } from 'zod';

interface Described {
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, { schema: object }>> }>>;
}

/** The answers of an API as its own OpenAPI document describes them. */
export class DescribedAnswers {
  readonly #operations: readonly { readonly method: string; readonly path: RegExp; readonly described: Described }[];
  readonly #schemas = new Map<object, z.ZodType>();

  constructor({ paths }: { readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>> }) {
    this.#operations = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, described]) => ({ method, path: templateOf(path), described })),
    );
  }

  /** What differs from the description, in words; undefined for an answer as described, or one whose body isn't JSON. */
  problemOf(method: string, path: string, status: number, json: unknown): string | undefined {
    if (json === undefined || status >= 300) return undefined;
    const found = this.#operations.find((each) => each.method === method.toLowerCase() && each.path.test(path));
    const schema = found?.described.responses[status]?.content?.['application/json']?.schema;
    if (schema === undefined) return undefined;
    const read = this.#schemaOf(schema).safeParse(json);
    return read.success ? undefined : `${method} ${path} differs from its description: ${z.prettifyError(read.error)}`;
  }

  #schemaOf(schema: object): z.ZodType {
    const known = this.#schemas.get(schema) ?? z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0]);
    this.#schemas.set(schema, known);
    return known;
  }
}

/** `/api/runs/{run}` as an expression for paths; those without a parameter come first in the document. */
function templateOf(path: string): RegExp {
  const parts = path.split(/\{\w+\}/).map((part) => RegExp.escape(part));
  return new RegExp(`^${parts.join('[^/]+')}$`);
}
