import { PROBLEM_TYPE } from './problem.ts';

/** Where a route's description has the types of its answers until the document is finished. */
export const TYPES = 'x-types';

interface Operation {
  [TYPES]?: readonly string[];
  readonly responses: Record<string, { content?: Record<string, unknown> }>;
}
type Paths = Record<string, Record<string, Operation>>;

/** Names the media types of answers in an OpenAPI document: problems have their own, and some routes answer other than JSON. */
export function withMediaTypes<T extends { readonly paths?: object }>(document: T): T {
  const operations = Object.values((document.paths ?? {}) as Paths).flatMap((methods) => Object.values(methods));
  for (const operation of operations) {
    const { [TYPES]: types = ['application/json'], responses } = operation;
    delete operation[TYPES];
    for (const [status, answer] of Object.entries(responses)) {
      const described = answer.content?.['application/json'];
      if (described === undefined) continue;
      const named = Number(status) >= 400 ? [PROBLEM_TYPE] : types;
      answer.content = Object.fromEntries(named.map((type) => [type, described]));
    }
  }
  return document;
}
