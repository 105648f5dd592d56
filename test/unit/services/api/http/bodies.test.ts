import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { openApi } from '../setup.ts';

const ASKED = '{"run":"r1","seeds":[]}';

test.each<[string, BodyInit, Record<string, string>, number, string]>([
  ['Latin-1', Buffer.from('{"urls":["http://a.test/\u00e9"]}', 'latin1'), {}, 400, 'expected a body in UTF-8'],
  ['UTF-16', Buffer.from(`\ufeff${ASKED}`, 'utf16le'), {}, 400, 'expected a body in UTF-8'],
  ['gzip', gzipSync(ASKED), { 'content-encoding': 'gzip' }, 415, 'expected a body without Content-Encoding, got gzip'],
])(
  'a body that is not JSON in UTF-8 is refused, never read as something else: %s',
  async (_, body, more, status, detail) => {
    const { server } = await openApi();
    const headers = { 'content-type': 'application/json', ...more };
    const answer = await fetch(new URL('/api/runs', server.url), { method: 'POST', body, headers });
    expect([answer.status, ((await answer.json()) as { detail: string }).detail]).toEqual([status, detail]);
    if (status === 415) expect(answer.headers.get('accept-encoding')).toBe('identity');
  },
);

test.each<[string, string, Record<string, string>]>([
  ['a byte order mark', `\ufeff${ASKED}`, {}],
  ['a charset', ASKED, { 'content-type': 'Application/JSON; Charset="UTF-8"' }],
  ['no coding, by its name', ASKED, { 'content-encoding': 'Identity' }],
])('a header that changes nothing about a body is accepted: %s', async (_, body, headers) => {
  const { ask } = await openApi();
  expect((await ask('/api/runs', { body, headers })).status).toBe(202);
});

test('a request without a body can have any coding', async () => {
  const { ask } = await openApi();
  expect((await ask('/api/runs', { headers: { 'content-encoding': 'gzip' } })).status).toBe(200);
});

test('a field that is null is dropped; a list keeps its nulls', async () => {
  const { ask } = await openApi();
  const body = {
    run: 'r1',
    crawler: null,
    args: null,
    seeds: [],
    options: { rate: '2/s', maxDepth: null },
    webhook: null,
  };
  expect((await ask('/api/runs', { body })).status).toBe(202);
  expect((await ask('/api/runs/r1/pause', { body: { reason: null } })).json.pauseReason).toBe('by hand');
  expect((await ask('/api/runs/r1/offers', { body: { urls: null } })).status).toBe(400);
  expect((await ask('/api/runs/r1/offers', { body: { urls: [null] } })).status).toBe(400);
});
