import { expect, test } from 'vitest';
import { openApi } from '../setup.ts';

const NUMBERS = [
  ['/api/runs', 'limit', '1', '200'],
  ['/api/dlq', 'limit', '0', '1000'],
  ['/api/hosts', 'limit', '1', '1000'],
  ['/api/audit', 'limit', '1', '1000'],
  ['/api/audit', 'cursor', '0', '9007199254740991'],
] as const;
const NO_NUMBERS = [
  '',
  '%20',
  '%205',
  '5%09',
  '-1',
  '1.5',
  '5.0',
  '1e2',
  '0x10',
  '%2B5',
  '007',
  'Infinity',
  '9'.repeat(20),
];

test.each(NUMBERS)(
  '%s?%s takes whole numbers in digits; anything else is refused by name',
  async (path, name, least, most) => {
    const { ask } = await openApi();
    for (const value of [least, most]) expect((await ask(`${path}?${name}=${value}`)).status, value).toBe(200);
    for (const value of [...NO_NUMBERS, `1&${name}=1`]) {
      const { status, json } = await ask(`${path}?${name}=${value}`);
      expect([status, json.detail], value).toEqual([400, expect.stringContaining(`querystring.${name}: `)]);
    }
  },
);

test('the document describes these parameters as whole numbers with their bounds', async () => {
  const { ask } = await openApi();
  const { paths } = (await ask('/openapi.json')).json;
  for (const [path, name, least, most] of NUMBERS) {
    const { schema } = paths[path].get.parameters.find((each: { name: string }) => each.name === name);
    expect(schema, path).toMatchObject({ type: 'integer', minimum: Number(least), maximum: Number(most) });
  }
});

test('a part of a path that is too long is refused with its limit', async () => {
  const { ask } = await openApi();
  for (const path of ['/api/runs/', '/api/workers/', '/api/dlq/', '/api/crawlers/']) {
    const suffix = path === '/api/crawlers/' ? '/graph' : '';
    expect((await ask(`${path}${'x'.repeat(2_048)}${suffix}`)).status).toBe(400);
    const { status, json } = await ask(`${path}${'x'.repeat(2_049)}${suffix}`);
    expect([status, json.code, json.detail]).toEqual([
      400,
      'usage',
      'expected each part of the path to have at most 2048 characters',
    ]);
  }
});
