import fc from 'fast-check';
import { expect, test } from 'vitest';
import { openApi } from '../setup.ts';

// biome-ignore lint/suspicious/noExplicitAny: a JSON Schema, as it came
type Schema = any;

/** Values that match a schema, and others that nearly do. */
function valuesOf(schema: Schema, depth = 0): fc.Arbitrary<unknown> {
  const wild = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null), fc.constant([]), fc.constant({}));
  if (schema === undefined || depth > 4) return wild;
  const any = schema.anyOf ?? schema.oneOf;
  const meant =
    any !== undefined
      ? fc.oneof(...any.map((each: Schema) => valuesOf(each, depth + 1)))
      : schema.enum !== undefined
        ? fc.constantFrom(...schema.enum)
        : schema.type === 'object'
          ? fc.record(
              Object.fromEntries(
                Object.entries(schema.properties ?? {}).map(([key, each]) => [key, valuesOf(each, depth + 1)]),
              ),
              { requiredKeys: [] as never[] },
            )
          : schema.type === 'array'
            ? fc.array(valuesOf(schema.items, depth + 1), { maxLength: 5 })
            : schema.type === 'integer' || schema.type === 'number'
              ? fc.oneof(fc.integer({ min: 0, max: 3 }), fc.double())
              : schema.type === 'boolean'
                ? fc.boolean()
                : fc.oneof(
                    fc.constantFrom('http://127.0.0.1:9/', 'http://[::1]/', 'a.test', 'none', 'r-1', '-', '\u0000'),
                    fc.string(),
                  );
  return fc.oneof({ weight: 6, arbitrary: meant }, { weight: 1, arbitrary: wild });
}

test('whatever is sent, the answer is never an internal error', async () => {
  const { ask } = await openApi({ FETCH_TIMEOUT: '1s' });
  const { paths } = (await ask('/openapi.json')).json;
  const operations = Object.entries(paths as Record<string, Schema>).flatMap(([path, methods]) =>
    Object.entries(methods as Record<string, Schema>).map(([method, operation]) => ({ path, method, operation })),
  );
  // Routes that open a stream, crawl, or check services that aren't running.
  const left = ['/api/events', '/api/crawl/batch', '/api/doctor'];
  const meant = operations.filter(({ path }) => !left.includes(path));
  const asked = fc.constantFrom(...meant).chain(({ path, method, operation }) => {
    const parameters: Schema[] = operation.parameters ?? [];
    const body = operation.requestBody?.content?.['application/json']?.schema;
    return fc.record({
      path: fc.constant(path),
      method: fc.constant(method),
      given: fc.record(Object.fromEntries(parameters.map(({ name, schema }) => [name, valuesOf(schema)])), {
        requiredKeys: parameters.filter((each) => each.in === 'path').map(({ name }) => name) as never[],
      }),
      parameters: fc.constant(parameters),
      body: body === undefined ? fc.constant(undefined) : valuesOf(body),
    });
  });
  await fc.assert(
    fc.asyncProperty(asked, async ({ path, method, given, parameters, body }) => {
      const query = new URLSearchParams();
      let target = path;
      for (const { name, in: place } of parameters) {
        const value = (given as Record<string, unknown>)[name];
        if (value === undefined) continue;
        if (place === 'path') target = target.replace(`{${name}}`, encodeURIComponent(String(value) || 'x'));
        else if (place === 'query') query.append(name, String(value));
      }
      if (JSON.stringify(body ?? null).includes('http')) delete (body as Record<string, unknown> | undefined)?.seeds;
      const answer = await ask(`${target}?${query}`, {
        method: method.toUpperCase(),
        ...(body === undefined ? {} : { body }),
      });
      expect(answer.status, `${method} ${target}: ${answer.text}`).toBeLessThan(
        answer.json?.code === 'unavailable' ? 504 : 500,
      );
    }),
    { numRuns: 400 },
  );
});
