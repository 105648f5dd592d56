import { createServer } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { validate } from '@readme/openapi-parser';
import { Webhook } from 'standardwebhooks';
import { describe, expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../../../shared/runtime/clock.ts';
import { SteadyClock } from '../../../../shared/stores/sqlite/steady-clock.ts';
import { letterOf } from '../../../support/stores/letters.ts';
import { openLocalParts } from '../../../support/stores/local-parts.ts';
import { openApi, openSite } from './setup.ts';

describe('runs over HTTP', () => {
  test('a run is opened for offers, gets URLs and is steered, and each change is in the audit', async () => {
    const { ask } = await openApi();
    const opened = await ask('/api/runs', { body: { run: 'r1', seeds: [] } });
    expect([opened.status, opened.headers.get('location')]).toEqual([202, '/api/runs/r1']);
    const urls = ['http://127.0.0.1:9/a', 'http://127.0.0.1:9/b', 'http://127.0.0.1:9/a', 'nonsense'];
    const offered = await ask('/api/runs/r1/offers', { body: { urls } });
    expect(offered.json).toEqual({ run: 'r1', discovered: 3, duplicate: 1, malformed: 1 });
    const paused = await ask('/api/runs/r1/pause', { body: { reason: 'a test' } });
    expect(paused.json).toMatchObject({ was: 'running', is: 'paused', pauseReason: 'a test' });
    expect((await ask('/api/runs/r1')).json).toMatchObject({ state: 'paused', pauseReason: 'a test', discovered: 3 });
    expect((await ask('/api/runs/r1/seal', { method: 'POST' })).json).toMatchObject({ sealed: true });
    expect((await ask('/api/runs/r1/offers', { body: { urls } })).json).toMatchObject({ code: 'wrong_state' });
    expect((await ask('/api/runs?state=paused')).json.runs.map((each: { run: string }) => each.run)).toEqual(['r1']);
    expect((await ask('/api/runs/r1/cancel', { body: {} })).json).toMatchObject({ is: 'cancelled' });
    expect((await ask('/api/runs/r1/resume', { body: {} })).json).toMatchObject({ status: 409, code: 'wrong_state' });
    const { entries } = (await ask('/api/audit')).json;
    expect(entries.map(({ action, target, reason }: Record<string, unknown>) => [action, target, reason])).toEqual([
      ['cancel run', 'r1', null],
      ['seal run', 'r1', null],
      ['pause run', 'r1', 'a test'],
      ['offer', 'r1', null],
      ['open run', 'r1', null],
    ]);
  });

  test('the API begins a crawl on this machine and crawls it to its end', async () => {
    const site = await openSite();
    const { ask } = await openApi();
    const body = { run: 'c1', seeds: [site.url('/page/1'), site.url('/page/2')] };
    expect((await ask('/api/runs', { body })).json).toMatchObject({ run: 'c1', discovered: 2 });
    const state = async (): Promise<string> => (await ask('/api/runs/c1')).json.state;
    await expect.poll(state).toBe('finished');
    const records = await ask('/api/runs/c1/records?format=csv&fields=url,status');
    expect(records.text.trim().split('\r\n').toSorted()).toEqual(
      ['url,status', `${site.url('/page/1')},200`, `${site.url('/page/2')},200`].toSorted(),
    );
    expect((await ask('/api/runs', { body })).json).toMatchObject({ code: 'wrong_state' });
  });

  test('a host is paused, limited, and released', async () => {
    const { ask } = await openApi();
    expect((await ask('/api/hosts/a.test/pause', { body: { reason: 'x' } })).json).toMatchObject({
      is: { paused: true },
    });
    expect((await ask('/api/hosts?state=paused')).json.hosts).toMatchObject([{ host: 'a.test', byHand: true }]);
    expect((await ask('/api/hosts?contains=.tes')).json.hosts).toHaveLength(1);
    expect((await ask('/api/hosts?contains=other')).json.hosts).toEqual([]);
    expect((await ask('/api/hosts/a.test/resume', { method: 'POST' })).json).toMatchObject({ was: { reason: 'x' } });
    const limit = { method: 'PUT', body: { rate: '30/min' } };
    expect((await ask('/api/hosts/a.test/limit', limit)).json).toEqual({ host: 'a.test', was: 'none', is: '30/min' });
    const ended = await ask('/api/hosts/a.test/limit', { method: 'DELETE' });
    expect(ended.json).toEqual({ host: 'a.test', was: '30/min', is: 'none' });
  });

  test('a dry run counts marks before they are forgotten; only the real change is in the audit', async () => {
    const { ask } = await openApi();
    await ask('/api/runs', { body: { run: 'r1', seeds: [] } });
    await ask('/api/runs/r1/offers', { body: { urls: ['http://a.test/1', 'http://a.test/2', 'http://b.test/1'] } });
    await ask('/api/runs/r1/cancel', { body: {} });
    await ask('/api/runs', { body: { run: 'r2', seeds: [] } });
    await ask('/api/runs/r2/offers', { body: { urls: ['http://a.test/1'] } });
    const [all, dryRun] = [true, true];
    expect((await ask('/api/forget', { body: { all, dryRun } })).json).toMatchObject({ kept: 1, dryRun: true });
    const counted = (await ask('/api/forget', { body: { host: 'a.test', dryRun } })).json;
    expect(counted).toMatchObject({ forgotten: 0, kept: 1, dryRun: true });
    const forgotten = (await ask('/api/forget', { body: { host: 'a.test', reason: 'moved' } })).json;
    expect({ ...forgotten, dryRun: true }).toEqual(counted);
    const { entries } = (await ask('/api/audit')).json;
    expect(entries.filter(({ action }: { action: string }) => action === 'forget')).toMatchObject([
      { target: 'a.test', reason: 'moved' },
    ]);
  });

  test('deleted letters are in no later answer, however they were deleted', async () => {
    const { ask, folder } = await openApi();
    const path = join(folder, 'trawl.sqlite');
    const { letters, database } = openLocalParts({ clock: new SteadyClock(systemClock), path, policy: {} });
    onTestFinished(() => database.close());
    const hosts = ['a.test', 'b.test', 'c.test'];
    await letters.keep(hosts.map((host, n) => letterOf(`http://${host}/`, { at: Date.now() + n })));
    const shown = async () => (await ask('/api/dlq')).json.letters.map(({ url }: { url: string }) => new URL(url).host);
    expect((await ask('/api/dlq?limit=0')).json).toEqual({ letters: [], total: 3, next: null, truncated: false });
    expect((await ask('/api/dlq?limit=0&host=a.test')).json).toEqual({
      letters: [],
      total: 1,
      next: null,
      truncated: false,
    });
    expect(await shown()).toEqual(hosts);
    expect((await ask('/api/forget', { body: { host: 'b.test' } })).json).toMatchObject({ letters: 1 });
    expect(await shown()).toEqual(['a.test', 'c.test']);
    expect((await ask('/api/dlq/purge', { body: { host: 'a.test' } })).json).toMatchObject({ purged: 1 });
    expect(await shown()).toEqual(['c.test']);
    expect((await ask('/api/forget', { body: { all: true } })).json).toMatchObject({ letters: 1 });
    expect(await shown()).toEqual([]);
  });

  test('a webhook is delivered until it is accepted, always with the same id, and can be verified', async () => {
    const { ask } = await openApi();
    const secret = `whsec_${Buffer.from('a key of twenty-four bytes').toString('base64')}`;
    const heard: { headers: Record<string, string>; body: string }[] = [];
    const twice = Promise.withResolvers<void>();
    const server = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk) => (body += String(chunk)));
      request.on('end', () => {
        heard.push({ headers: request.headers as Record<string, string>, body });
        response.writeHead(204).end();
        if (heard.length === 2) twice.resolve();
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as { port: number };
    const webhook = { url: `http://127.0.0.1:${port}/hook`, secret };
    await ask('/api/runs', { body: { run: 'w1', seeds: [], webhook } });
    expect((await ask('/api/runs/w1/webhook')).json).toMatchObject({ state: 'waiting', attempts: [] });
    expect((await ask('/api/runs/w1/webhook/replay', { method: 'POST' })).status).toBe(409);
    await ask('/api/runs/w1/cancel', { body: {} });
    await expect.poll(async () => (await ask('/api/runs/w1/webhook')).json.state).toBe('delivered');
    expect((await ask('/api/runs/w1/webhook/replay', { method: 'POST' })).status).toBe(202);
    await twice.promise;
    for (const { headers, body } of heard)
      expect(new Webhook(secret).verify(body, headers)).toMatchObject({ type: 'run.cancelled', data: { run: 'w1' } });
    expect(new Set(heard.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    expect((await ask('/api/runs/w1/webhook')).text).not.toContain(secret);
  });
});

describe('robots.txt over HTTP', () => {
  const secret = (role: string): string => `${role}-secret-of-a-test`;
  const API_TOKENS = ['submit', 'admin'].map((role) => `${role}:${role}:${secret(role)}`).join(',');

  test('only an admin may ignore it, in a run and in a batch', async () => {
    const site = await openSite();
    site.robots = 'User-agent: *\nDisallow: /';
    const { ask } = await openApi({ API_TOKENS });
    const batch = (options: object) => ({ urls: [site.url('/page/1')], timeout: 20, options });
    const [submit, admin] = [{ token: secret('submit') }, { token: secret('admin') }];
    const obeying = await ask('/api/crawl/batch', { body: batch({}), ...submit });
    expect(obeying.json.results[0]).toMatchObject({ status: 'skipped', reason: 'robots' });
    for (const [path, body] of [
      ['/api/crawl/batch', batch({ robots: 'ignore' })],
      ['/api/runs', { run: 'r1', seeds: [site.url('/page/1')], options: { robots: 'ignore' } }],
    ] as const) {
      const refused = await ask(path, { body, ...submit });
      expect([refused.status, refused.json.detail]).toEqual([
        403,
        'token submit has the role submit; this needs the role admin',
      ]);
    }
    expect((await ask('/api/runs/r1', admin)).status).toBe(404);
    const ignoring = await ask('/api/crawl/batch', { body: batch({ robots: 'ignore' }), ...admin });
    expect(ignoring.json.results[0]).toMatchObject({ status: 'success' });
    const body = { run: 'r1', seeds: [site.url('/page/2')], options: { robots: 'ignore' } };
    expect((await ask('/api/runs', { body, ...admin })).status).toBe(202);
    const done = async (): Promise<number> => (await ask('/api/runs/r1', admin)).json.done;
    await expect.poll(done).toBe(1);
  });
});

describe('a bad request gets a problem', () => {
  test.each([
    ['an unknown route', '/api/nix', {}, 404, 'not_found'],
    ['no JSON', '/api/runs', { body: '{"run":' }, 400, 'usage'],
    ['a wrong type', '/api/runs', { body: { run: 7 } }, 400, 'usage'],
    ['an unknown field', '/api/runs', { body: { urls: [] } }, 400, 'usage'],
    ['a file as a seed', '/api/runs', { body: { seeds: ['/etc/passwd'] } }, 400, 'usage'],
    ['standard input as a seed', '/api/runs', { body: { seeds: ['-'] } }, 400, 'usage'],
    ['a path as a crawler', '/api/runs', { body: { crawler: '../x.ts', seeds: [] } }, 400, 'usage'],
    ['an unknown crawler', '/api/runs', { body: { crawler: 'nix', seeds: [] } }, 404, 'unknown_crawler'],
    [
      'an option that is no one’s',
      '/api/runs',
      { body: { seeds: [], options: { privateHosts: '::/0' } } },
      400,
      'usage',
    ],
    ['an option that is wrong', '/api/runs', { body: { seeds: [], options: { rate: 'fast' } } }, 400, 'usage'],
    ['a webhook that is none', '/api/runs', { body: { seeds: [], webhook: { url: 'x', secret: 'y' } } }, 400, 'usage'],
    ['too large', '/api/forget', { body: { url: 'x'.repeat(300_000) } }, 413, 'too_large'],
    ['too many', '/api/crawl/batch', { body: { urls: Array(1_001).fill('http://a.test/') } }, 400, 'usage'],
    ['no letters named', '/api/dlq/purge', { body: {} }, 400, 'usage'],
    [
      'a form',
      '/api/forget',
      { body: 'all=true', headers: { 'content-type': 'application/x-www-form-urlencoded' } },
      415,
      'unsupported_media_type',
    ],
    [
      'plain text',
      '/api/forget',
      { body: '{}', headers: { 'content-type': 'text/plain' } },
      415,
      'unsupported_media_type',
    ],
    ['headers too large', '/api/runs', { headers: { 'x-much': 'x'.repeat(20_000) } }, 431, 'headers_too_large'],
    ['a method that the path has not', '/api/runs', { method: 'DELETE' }, 405, 'method_not_allowed'],
    ['a body of any kind, by such a method', '/api/fleet', { method: 'PATCH', body: 'x' }, 405, 'method_not_allowed'],
    ['an address that is none', '/api/runs/%ZZ', {}, 400, 'usage'],
    ['a path that begins twice', '/.//healthz', {}, 404, 'not_found'],
    ['an unknown run', '/api/runs/nix', {}, 404, 'unknown_run'],
    ['the webhook of an unknown run', '/api/runs/nix/webhook', {}, 404, 'unknown_run'],
    ['its replay', '/api/runs/nix/webhook/replay', { method: 'POST' }, 404, 'unknown_run'],
    ['an id that is none', '/api/runs/N%2F..', {}, 400, 'usage'],
    ['an unknown worker', '/api/workers/nix', {}, 404, 'unknown_worker'],
    ['an unknown batch', '/api/crawl/batch/nix', {}, 404, 'unknown_batch'],
    ['a wrong cursor', '/api/runs?cursor=-1', {}, 400, 'usage'],
    ['a filter that there is not', '/api/runs?stat=running', {}, 400, 'usage'],
    ['a filter that there is not, of records', '/api/runs/nix/records?outcom=failed', {}, 400, 'usage'],
    ['a wrong condition', '/api/runs/nix/records?where=x', {}, 400, 'usage'],
  ])('%s', async (_, path, asking, status, code) => {
    const { ask } = await openApi();
    const answer = await ask(path, asking as object);
    expect([answer.status, answer.json?.code], answer.text).toEqual([status, code]);
    expect(answer.headers.get('content-type')).toMatch(/^application\/problem\+json/);
  });

  test('an empty body can have any content type', async () => {
    const { ask } = await openApi();
    await ask('/api/runs', { body: { run: 'r1', seeds: [] } });
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const paused = await ask('/api/runs/r1/pause', { method: 'POST', body: '', headers });
    expect([paused.status, paused.json.is]).toEqual([200, 'paused']);
    expect((await ask('/api/runs', { method: 'POST', body: '', headers })).json.code).toBe('usage');
  });

  test('a wrong method gets 405 with the right ones', async () => {
    const { ask } = await openApi();
    const allowed = async (path: string, method: string) => (await ask(path, { method })).headers.get('allow');
    expect(await allowed('/api/runs', 'PUT')).toBe('GET, HEAD, POST');
    expect(await allowed('/api/runs/r1/pause', 'GET')).toBe('POST');
    expect(await allowed('/api/hosts/a.test/limit', 'OPTIONS')).toBe('DELETE, PUT');
    expect((await ask('/api/nothing', { method: 'PUT' })).status).toBe(404);
    // Trying all methods must not create a metric series for each path.
    expect((await ask('/metrics')).text).not.toMatch(/route="\/api[^}]*code="405"/);
  });

  test('a problem names the place of the wrong value', async () => {
    const { ask } = await openApi();
    expect((await ask('/api/runs', { body: { run: 7 } })).json.detail).toMatch(/^body\.run: /);
    expect((await ask('/api/runs', { body: '"seeds"' })).json.detail).toMatch(/^body: /);
  });

  test('a body that stops half-way affects no other request', async () => {
    const { ask, server } = await openApi();
    const { port } = new URL(server.url);
    const socket = connect(Number(port), '127.0.0.1');
    await new Promise((resolve) => socket.once('connect', resolve));
    socket.write(
      'POST /api/forget HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"all"',
    );
    expect((await ask('/healthz')).status).toBe(200);
    socket.destroy();
    expect((await ask('/api/audit')).json.entries).toEqual([]);
  });
});

describe('the OpenAPI document', () => {
  test('is valid for an independent reader, and has every route', async () => {
    const { ask } = await openApi();
    const { json } = await ask('/openapi.json');
    expect(await validate(structuredClone(json))).toMatchObject({ valid: true });
    expect(Object.keys(json.paths).length).toBeGreaterThan(30);
    // Its paths are relative to the document, so they also work below a path of a proxy.
    const [{ url: server }] = json.servers;
    expect(new URL(server, 'https://a.test/trawl/openapi.json').href).toBe('https://a.test/trawl/');
    const typesOf = (path: string, status: number): string[] =>
      Object.keys(json.paths[path].get.responses[status].content);
    expect(typesOf('/api/runs', 200)).toEqual(['application/json']);
    expect(typesOf('/api/runs', 400)).toEqual(['application/problem+json']);
    expect(typesOf('/api/runs/{run}/records', 200)).toEqual(['application/x-ndjson', 'application/json', 'text/csv']);
    expect(typesOf('/api/events', 200)).toEqual(['text/event-stream']);
    expect(typesOf('/metrics', 200)).toEqual(['text/plain']);
    const { content } = json.paths['/api/runs/{run}/records'].get.responses[200];
    expect([content['application/json'].schema.type, content['text/csv'].schema.type]).toEqual(['array', 'string']);
  });

  test('names each operation and its possible answers', async () => {
    const { ask } = await openApi();
    const { paths } = (await ask('/openapi.json')).json;
    // biome-ignore lint/suspicious/noExplicitAny: a description, as it came
    const operations: any[] = Object.values(paths).flatMap((methods) => Object.values(methods as object));
    const names = operations.map(({ operationId }) => operationId);
    expect(names).toEqual(names.map(() => expect.stringMatching(/^[a-z]+([A-Z][a-z]+)*$/)));
    expect(new Set(names).size).toBe(names.length);
    const problem = { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } };
    for (const { responses } of operations) expect(responses.default.content).toEqual(problem);
  });

  test('describes the fields of letters and of results of batches', async () => {
    const { ask } = await openApi();
    const { paths } = (await ask('/openapi.json')).json;
    const of = (path: string, method: string) =>
      Object.keys(paths[path][method].responses[200].content['application/json'].schema.properties);
    expect(of('/api/dlq/{letter}', 'get')).toEqual(expect.arrayContaining(['run', 'url', 'status', 'attempts']));
    const batch = paths['/api/crawl/batch'].post.responses[200].content['application/json'].schema;
    const result = Object.keys(batch.properties.results.items.properties);
    expect(result).toEqual(expect.arrayContaining(['reason', 'error', 'http_status', 'final_url', 'data']));
  });

  test('requires no body where a route needs none', async () => {
    const { ask } = await openApi();
    const { paths } = (await ask('/openapi.json')).json;
    const { requestBody } = paths['/api/runs/{run}/pause'].post;
    expect([requestBody.required, requestBody.content['application/json'].schema.type]).toEqual([false, 'object']);
    expect(paths['/api/runs/{run}/offers'].post.requestBody.required).toBe(true);
  });
});

test('events: the fleet at once and then each second, and the run asked for', async () => {
  const { ask, server } = await openApi();
  await ask('/api/runs', { body: { run: 'e1', seeds: [] } });
  const over = new AbortController();
  const response = await fetch(new URL('/api/events?run=e1', server.url), { signal: over.signal });
  expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/);
  let text = '';
  for await (const chunk of response.body ?? []) {
    text += new TextDecoder().decode(chunk);
    if (text.split('event: fleet').length > 2 && text.includes('event: run')) break;
  }
  over.abort();
  expect(text).toContain('"run":"e1"');
});
