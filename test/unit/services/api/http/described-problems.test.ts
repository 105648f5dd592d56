import { request } from 'node:http';
import { expect, test } from 'vitest';
import { openApi } from '../setup.ts';

const READER = 'r'.repeat(20);
/** An admin token for each route, since requests per token are limited. */
const ADMINS = Array.from({ length: 60 }, (_, n) => `${n}`.padStart(20, 'a'));
const JSON_TYPE = { 'content-type': 'application/json' };
/** A body larger than any route accepts. */
const MOST_BYTES = 17_000_000;
/** Statuses that no route lists: the document has them under any other problem. */
const HEADERS_TOO_LARGE = 431;

interface Operation {
  readonly responses: Readonly<Record<string, unknown>>;
}

/** Problems that any route can answer, each with requests that cause it. */
function problemsAsked(method: string, template: string, admin: string): Readonly<Record<string, readonly Asked[]>> {
  const authorized = { authorization: `Bearer ${admin}` };
  const json = { ...authorized, ...JSON_TYPE };
  const path = template.replace(/\{\w+\}/g, 'nix-1');
  const withBodies = {
    400: ['{', '[1]', '{"__proto__":1}', 'nix'].map((body) => ({ path, headers: json, body })),
    413: [{ path, headers: json, body: '{', length: MOST_BYTES }],
    415: ['text/plain', '/;;'].map((type) => ({ path, headers: { ...authorized, 'content-type': type }, body: 'x' })),
  };
  return {
    ...(method === 'GET' ? {} : withBodies),
    query: ['nix=1', 'limit=x&cursor=x', `url=${'n'.repeat(9_000)}`].map((query) => ({
      path: `${path}?${query}`,
      headers: authorized,
    })),
    names: ['%zz', 'N!', 'n'.repeat(3_000)].map((name) => ({
      path: template.replace(/\{\w+\}/g, name),
      headers: authorized,
    })),
    host: [{ path, headers: { ...authorized, host: 'evil.test' } }],
    who: [
      { path, headers: {} },
      { path, headers: { authorization: `Bearer ${READER}` } },
      ...(method === 'POST' ? [{ path, headers: JSON_TYPE, body: '{"token":"of nobody"}' }] : []),
    ],
    address: [{ path: `${path}?url=${'n'.repeat(60_000)}`, headers: authorized }],
  };
}

interface Asked {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** What it is said to be, if not as long as it is. */
  readonly length?: number;
}

/** Returns the status of an answer, or nothing if the API hung up first. */
function statusOf(base: string, method: string, { path, headers, body, length }: Asked): Promise<number | undefined> {
  const said = body === undefined ? {} : { 'content-length': String(length ?? Buffer.byteLength(body)) };
  return new Promise((resolve) => {
    const sent = request(new URL(path, base), { method, headers: { ...said, ...headers } }, (response) => {
      resolve(response.statusCode);
      response.destroy();
    });
    sent.on('error', () => resolve(undefined));
    sent.end(body);
  });
}

test('each route lists exactly those of these problems that its requests can have', async () => {
  const { ask, server } = await openApi({
    API_TOKENS: [`reader:read:${READER}`, ...ADMINS.map((each, n) => `admin-${n}:admin:${each}`)].join(','),
  });
  const { paths } = (await ask('/openapi.json', { token: READER })).json;
  const wrong: string[] = [];
  const admins = ADMINS.values();
  for (const [template, methods] of Object.entries(paths as Record<string, Record<string, Operation>>))
    for (const [name, { responses }] of Object.entries(methods)) {
      const method = name.toUpperCase();
      const seen = new Set<number>();
      for (const [kind, requests] of Object.entries(problemsAsked(method, template, admins.next().value ?? '')))
        for (const asked of requests) {
          const status = await statusOf(server.url, method, asked);
          if (status === undefined || status < 400) continue;
          seen.add(status);
          if (!(status in responses) && status !== HEADERS_TOO_LARGE)
            wrong.push(`${method} ${template} answers ${status} to ${kind}`);
        }
      for (const status of [400, 401, 403, 413, 415])
        if (status in responses && !seen.has(status)) wrong.push(`${method} ${template} never answers ${status}`);
    }
  expect(wrong).toEqual([]);
}, 60_000);
