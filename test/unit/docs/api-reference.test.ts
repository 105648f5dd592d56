import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { apiReference, openApiDocument, REFERENCE_END, REFERENCE_START } from '../../../scripts/api-docs.ts';

test('the reference of docs/api.md is current, and has every route', async () => {
  const document = await openApiDocument();
  const reference = apiReference(document);
  const page = readFileSync('docs/api.md', 'utf8');
  expect(page, 'npm run docs writes it anew').toContain(`${REFERENCE_START}\n\n${reference}\n${REFERENCE_END}`);
  const routes = Object.entries(document.paths ?? {}).flatMap(([path, methods]) =>
    Object.keys(methods ?? {}).map((method) => `**\`${method.toUpperCase()} ${path}\`**`),
  );
  expect(routes.length).toBeGreaterThan(40);
  for (const route of routes) expect(reference).toContain(route);
});

test('a route says who may ask, what it takes, what it answers and what is refused', () => {
  const schema = {
    type: 'object' as const,
    properties: { urls: { type: 'array' as const, items: { type: 'string' as const } }, way: { enum: ['a', 'b'] } },
    required: ['urls'],
  };
  const operation = {
    ...{ tags: ['runs'], summary: 'Offer URLs', 'x-role': 'submit' },
    requestBody: { content: { 'application/json': { schema } } },
    responses: { 200: { description: '', content: { 'application/json': { schema } } }, 404: { description: '' } },
  };
  const paths = { '/api/offers': { post: operation } };
  expect(apiReference({ openapi: '3.1.0', info: { title: '', version: '' }, paths })).toBe(`### Runs

**\`POST /api/offers\`** · submit · Offer URLs

- body: { \`urls\` list of string, \`way?\` \`a\` or \`b\` }
- 200: { \`urls\` list of string, \`way?\` \`a\` or \`b\` }
- problems: 404

`);
});
