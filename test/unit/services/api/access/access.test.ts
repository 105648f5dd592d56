import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { Allowance } from '../../../../../services/api/access/allowance.ts';
import { SESSION_COOKIE, SESSION_MS, Sessions } from '../../../../../services/api/access/sessions.ts';
import { makeFirstToken, readTokens, Tokens } from '../../../../../services/api/access/tokens.ts';
import { ApiServer } from '../../../../../services/api/server.ts';
import { silentLog } from '../../../../../shared/runtime/logger.ts';
import { settingsFrom } from '../../../../../shared/settings/settings.ts';
import { openApi } from '../setup.ts';

const SECRETS = { read: 'reads-reads-reads-1', submit: 'submits-submits-submits', admin: 'admin-admin-admin-1' };
const API_TOKENS = `r:read:${SECRETS.read},s:submit:${SECRETS.submit},a:admin:${SECRETS.admin}`;

/** Every route that checks tokens, with the role it needs and a body that it accepts. */
const ROUTES = [
  ['GET', '/api/fleet', 'read'],
  ['GET', '/api/fleet/history', 'read'],
  ['GET', '/api/runs', 'read'],
  ['GET', '/api/runs/nix', 'read'],
  ['GET', '/api/runs/nix/records', 'read'],
  ['GET', '/api/runs/nix/webhook', 'read'],
  ['GET', '/api/hosts', 'read'],
  ['GET', '/api/workers', 'read'],
  ['GET', '/api/workers/nix', 'read'],
  ['GET', '/api/dlq', 'read'],
  ['GET', '/api/dlq/nix', 'read'],
  ['GET', '/api/urls?url=http://a.test/', 'read'],
  ['GET', '/api/crawlers', 'read'],
  ['GET', '/api/crawlers/page/graph', 'read'],
  ['GET', '/api/autoscale', 'read'],
  ['GET', '/api/audit', 'read'],
  ['GET', '/api/crawl/batch/nix', 'read'],
  ['GET', '/api/crawl/distributed/status', 'read'],
  ['GET', '/api/session', 'read'],
  ['GET', '/metrics', 'read'],
  ['POST', '/api/runs', 'submit', { run: 'x-1', seeds: [] }],
  ['POST', '/api/runs/nix/offers', 'submit', { urls: ['http://a.test/'] }],
  ['POST', '/api/crawl/batch', 'submit', { urls: ['nonsense'] }],
  ['POST', '/api/runs/nix/webhook/replay', 'submit', {}],
  ['POST', '/api/runs/nix/pause', 'admin', {}],
  ['POST', '/api/runs/nix/resume', 'admin', {}],
  ['POST', '/api/runs/nix/cancel', 'admin', {}],
  ['POST', '/api/runs/nix/seal', 'admin', {}],
  ['POST', '/api/fleet/pause', 'admin', {}],
  ['POST', '/api/fleet/resume', 'admin', {}],
  ['POST', '/api/hosts/a.test/pause', 'admin', {}],
  ['POST', '/api/hosts/a.test/resume', 'admin', {}],
  ['PUT', '/api/hosts/a.test/limit', 'admin', { rate: '1/s' }],
  ['DELETE', '/api/hosts/a.test/limit', 'admin'],
  ['POST', '/api/dlq/replay', 'admin', { all: true, dryRun: true }],
  ['POST', '/api/dlq/purge', 'admin', { all: true, dryRun: true }],
  ['POST', '/api/forget', 'admin', { host: 'a.test' }],
] as const;
const ROLES = ['read', 'submit', 'admin'] as const;

describe('access', () => {
  test('each route needs a token of its role', async () => {
    const { ask } = await openApi({ API_TOKENS });
    for (const [method, path, role, body] of ROUTES) {
      const options = { method, ...(body === undefined ? {} : { body }) };
      expect([path, (await ask(path, options)).status]).toEqual([path, 401]);
      for (const each of ROLES) {
        const { status, text } = await ask(path, { ...options, token: SECRETS[each] });
        const mayDo = ROLES.indexOf(each) >= ROLES.indexOf(role);
        expect([path, each, status === 403], text).toEqual([path, each, !mayDo]);
        expect([path, status < 500], text).toEqual([path, true]);
      }
    }
  });

  test('only admins can offer URLs to a run that ignores robots.txt, whoever opened it', async () => {
    const { ask } = await openApi({ API_TOKENS });
    const offers = { body: { urls: ['http://a.test/secret'] } };
    const opened = { body: { run: 'free', seeds: [], options: { robots: 'ignore' } }, token: SECRETS.admin };
    expect((await ask('/api/runs', opened)).status).toBe(202);
    expect((await ask('/api/runs/free/offers', { ...offers, token: SECRETS.submit })).status).toBe(403);
    const joined = { run: 'free', seeds: ['http://a.test/secret'] };
    expect((await ask('/api/runs', { body: joined, token: SECRETS.submit })).status).toBe(403);
    expect((await ask('/api/runs/free/offers', { ...offers, token: SECRETS.admin })).json.discovered).toBe(1);
    expect((await ask('/api/runs', { body: { run: 'tame', seeds: [] }, token: SECRETS.admin })).status).toBe(202);
    expect((await ask('/api/runs/tame/offers', { ...offers, token: SECRETS.submit })).status).toBe(200);
    const last = await ask('/api/runs/tame/offers', { body: { last: true }, token: SECRETS.submit });
    expect([last.status, last.json.sealed]).toEqual([200, true]);
  });

  test('a missing file of tokens is created, with the hash of a secret that is shown once', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'trawl-tokens-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const API_TOKENS_FILE = join(folder, 'tokens');
    const { ask, server } = await openApi({ API_TOKENS_FILE });
    expect((await ask('/api/fleet')).status).toBe(401);
    expect((await ask('/api/fleet', { token: server.firstSecret ?? '' })).status).toBe(200);
    expect(await readFile(API_TOKENS_FILE, 'utf8')).not.toContain(server.firstSecret);
    const again = await openApi({ API_TOKENS_FILE });
    expect(again.server.firstSecret).toBe(undefined);
    expect((await again.ask('/api/fleet', { token: server.firstSecret ?? '' })).status).toBe(200);
  });

  test('a file of tokens is read by lines and commas, beside API_TOKENS, and is never replaced', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'trawl-tokens-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const file = join(folder, 'tokens');
    const texts = [`s:submit:${SECRETS.submit}`];
    expect(makeFirstToken({ texts, file })).toBe(undefined);
    expect(readTokens({ texts, file }).callerOf(SECRETS.submit)).toEqual({ name: 's', role: 'submit' });
    const first = makeFirstToken({ texts: [], file });
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(readTokens({ texts, file }).callerOf(first ?? '')).toEqual({ name: 'admin', role: 'admin' });
    await writeFile(file, `# r:read:${SECRETS.read}\n\n r:read:${SECRETS.read},x:read:another-secret-of-x\n`);
    const tokens = readTokens({ texts, file });
    const callers = [SECRETS.read, 'another-secret-of-x', SECRETS.submit].map(
      (secret) => tokens.callerOf(secret)?.name,
    );
    expect([callers, tokens.callerOf(first ?? '')]).toEqual([['r', 'x', 's'], undefined]);
    expect(makeFirstToken({ texts: [], file })).toBe(undefined);
  });

  test('a hash stands for its secret, in upper or lower case, and is no secret itself', () => {
    const hex = createHash('sha256').update(SECRETS.admin).digest('hex');
    for (const hash of [`sha256:${hex}`, `sha256:${hex.toUpperCase()}`]) {
      const tokens = Tokens.read([`a:admin:${hash}`], 'a test');
      expect([tokens.callerOf(SECRETS.admin)?.name, tokens.callerOf(hash)]).toEqual(['a', undefined]);
    }
    for (const wrong of [
      `sha256:${hex.slice(1)}`,
      `sha256:${hex}0`,
      `sha256:${'g'.repeat(64)}`,
      'SHA256:',
      `Sha256:-${hex}`,
    ])
      expect(() => Tokens.read([`a:admin:${wrong}`], 'a test')).toThrow(/the hash of token a/);
  });

  test('health needs no token', async () => {
    const { ask } = await openApi({ API_TOKENS });
    for (const path of ['/healthz', '/readyz', '/openapi.json', '/']) expect((await ask(path)).status).toBe(200);
  });

  test('wrong tokens are limited, and reveal nothing about the right ones', async () => {
    const { ask } = await openApi({ API_TOKENS });
    const statuses = [];
    for (let i = 0; i < 12; i++) statuses.push((await ask('/api/fleet', { token: `wrong-${i}` })).status);
    expect(statuses).toEqual([...Array(10).fill(401), 429, 429]);
    const limited = await ask('/api/fleet', { token: 'wrong' });
    expect(Number(limited.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(limited.text).not.toContain(SECRETS.admin);
    expect((await ask('/api/session', { body: { token: 'wrong' } })).status).toBe(429);
  });

  test('a session is a cookie that scripts of the page cannot read', async () => {
    const { ask } = await openApi({ API_TOKENS });
    expect((await ask('/api/session', { body: { token: 'wrong' } })).status).toBe(401);
    const begun = await ask('/api/session', { body: { token: SECRETS.read } });
    const cookie = begun.headers.get('set-cookie') ?? '';
    expect([begun.status, cookie]).toEqual([204, expect.stringMatching(/HttpOnly; SameSite=Strict$/)]);
    const [pair = ''] = cookie.split(';');
    expect((await ask('/api/session', { headers: { cookie: pair } })).json).toEqual({
      name: 'r',
      role: 'read',
      needsToken: true,
      isLocal: true,
    });
    expect((await ask('/api/fleet', { headers: { cookie: pair.replace('=r.', '=a.') } })).status).toBe(401);
    expect((await ask('/api/fleet/pause', { body: {}, headers: { cookie: pair } })).status).toBe(403);
  });

  test('an API leaves the sessions of others on its host as they are', async () => {
    const [here, there] = [
      await openApi({ API_TOKENS }),
      await openApi({ API_TOKENS: 'a:admin:another-secret-of-another' }),
    ];
    const begin = async ({ ask }: typeof here, token: string, cookie = ''): Promise<string> => {
      const begun = await ask('/api/session', { body: { token }, headers: { cookie } });
      return begun.headers.get('set-cookie')?.split(';')[0] ?? '';
    };
    const statuses = async (cookie: string): Promise<number[]> =>
      await Promise.all(
        [here, there].map(async ({ ask }) => (await ask('/api/fleet', { headers: { cookie } })).status),
      );
    const first = await begin(here, SECRETS.read);
    expect(await statuses(first)).toEqual([200, 401]);
    const both = await begin(there, 'another-secret-of-another', first);
    expect(await statuses(both)).toEqual([200, 200]);
    // Another session at the same API replaces that one.
    const changed = await begin(here, SECRETS.admin, both);
    expect(await statuses(changed)).toEqual([200, 200]);
    expect(changed.length).toBeLessThan(both.length + 10);
    expect((await here.ask('/api/session', { headers: { cookie: changed } })).json.role).toBe('admin');
    const left = await here.ask('/api/session', { method: 'DELETE', headers: { cookie: changed } });
    const [pair = ''] = left.headers.get('set-cookie')?.split(';') ?? [];
    expect(await statuses(pair)).toEqual([401, 200]);
    const none = await there.ask('/api/session', { method: 'DELETE', headers: { cookie: pair } });
    expect(none.headers.get('set-cookie')).toMatch(/^trawl_session=; .*Max-Age=0/);
  });

  test('a session that was ended is refused to whoever has a copy of its cookie', async () => {
    const { ask } = await openApi({ API_TOKENS });
    const begin = async (token: string): Promise<string> =>
      (await ask('/api/session', { body: { token } })).headers.get('set-cookie')?.split(';')[0] ?? '';
    const [ended, other] = [await begin(SECRETS.admin), await begin(SECRETS.read)];
    await ask('/api/session', { method: 'DELETE', headers: { cookie: ended } });
    expect((await ask('/api/session', { headers: { cookie: ended } })).status).toBe(401);
    expect((await ask('/api/session', { headers: { cookie: other } })).status).toBe(200);
    // Ended again, it is still no session of another API.
    const again = await ask('/api/session', { method: 'DELETE', headers: { cookie: ended } });
    expect(again.headers.get('set-cookie')).toMatch(/^trawl_session=; /);
  });

  test('a cookie holds five sessions of other APIs at most, and none that has ended', () => {
    let now = 0;
    const caller = { name: 'read', role: 'read' } as const;
    const api = (n: number) =>
      new Sessions(Tokens.read([`read:read:secret-of-the-api-${n}`], 'a test'), { now: () => now });
    let cookie = '';
    for (let n = 0; n < 7; n++) cookie = `${SESSION_COOKIE}=${api(n).begin(caller, cookie)}`;
    const known = Array.from({ length: 7 }, (_, n) => api(n).callerOf(cookie.slice(SESSION_COOKIE.length + 1))?.name);
    expect(known).toEqual([undefined, undefined, 'read', 'read', 'read', 'read', 'read']);
    now = SESSION_MS;
    expect(api(0).begin(caller, cookie)).not.toContain('~');
    expect(api(6).end(cookie)).toBe('');
  });

  test('a session whose signature was cut is refused as any wrong one', async () => {
    const { ask } = await openApi({ API_TOKENS });
    const begun = await ask('/api/session', {
      body: { token: SECRETS.read },
      headers: { 'x-forwarded-proto': 'https' },
    });
    const [pair = '', ...attributes] = begun.headers.get('set-cookie')?.split('; ') ?? [];
    expect(attributes).toContain('Secure');
    expect((await ask('/api/fleet', { headers: { cookie: pair } })).status).toBe(200);
    for (const wrong of [pair.slice(0, -1), `${pair}A`, pair.replace(/[^.]+$/, ''), pair.replace(/\.(\d+)\./, '.9$1.')])
      expect((await ask('/api/fleet', { headers: { cookie: wrong } })).status).toBe(401);
  });

  test('an allowance that nobody used for long grows no larger than its burst', () => {
    let now = 0;
    const allowance = new Allowance(0.1, 10, { monotonic: () => now });
    const taken = (): number =>
      Array.from({ length: 30 }, () => allowance.take('a')).filter((wait) => wait === 0).length;
    expect(taken()).toBe(10);
    now += 20_000;
    expect([taken(), allowance.waitMs('a'), allowance.waitMs('b')]).toEqual([2, 10_000, 0]);
    now += 1_000_000;
    expect(taken()).toBe(10);
  });

  test('the requests of one caller are limited', async () => {
    const { ask } = await openApi({ API_TOKENS });
    const statuses = new Set<number>();
    for (let round = 0; round < 20 && !statuses.has(429); round++)
      for (const { status } of await Promise.all(
        Array.from({ length: 200 }, () => ask('/api/session', { token: SECRETS.read })),
      ))
        statuses.add(status);
    expect([...statuses]).toEqual([200, 429]);
    expect((await ask('/api/session', { token: SECRETS.admin })).status).toBe(200);
  });

  test('events end with the session that asked for them', async () => {
    const { server } = await openApi({ API_TOKENS });
    const before = new Sessions(Tokens.read([`r:read:${SECRETS.read}`], 'a test'), {
      now: () => Date.now() - SESSION_MS + 1_500,
    });
    const headers = { cookie: `${SESSION_COOKIE}=${before.begin({ name: 'r', role: 'read' })}` };
    const events = await fetch(new URL('/api/events', server.url), { headers });
    expect(events.status).toBe(200);
    expect(await events.text()).toContain('event: fleet');
    expect((await fetch(new URL('/api/fleet', server.url), { headers })).status).toBe(401);
  });

  test("another site's page, or name, is refused", async () => {
    const { ask, server } = await openApi();
    const path = '/api/fleet/pause';
    const refused = await ask(path, { body: {}, headers: { origin: 'https://evil.test' } });
    expect(refused).toMatchObject({ status: 403, json: { detail: expect.stringContaining('https://evil.test') } });
    expect((await ask(path, { body: {}, headers: { origin: 'null' } })).status).toBe(403);
    expect((await ask(path, { body: {}, headers: { 'sec-fetch-site': 'cross-site' } })).status).toBe(403);
    expect((await ask(path, { body: {}, headers: { origin: new URL(server.url).origin } })).status).toBe(200);
    const { port } = new URL(server.url);
    const status = await new Promise((resolve, reject) => {
      const asked = request(
        { port, host: '127.0.0.1', path: '/api/fleet', headers: { host: 'rebound.test' } },
        (answer) => {
          answer.resume();
          resolve(answer.statusCode);
        },
      );
      asked.on('error', reject).end();
    });
    expect(status).toBe(403);
  });

  test('behind a known proxy, wrong tokens from one caller lock out no other caller', async () => {
    const guess = async (ask: Awaited<ReturnType<typeof openApi>>['ask'], from: string) => {
      const headers = { 'x-forwarded-for': from };
      for (let i = 0; i < 10; i++) await ask('/api/fleet', { token: `wrong-wrong-wrong-${i}`, headers });
      return (await ask('/api/fleet', { token: SECRETS.read, headers })).status;
    };
    const behind = await openApi({ API_TOKENS, API_PROXIES: '127.0.0.0/8' });
    expect(await guess(behind.ask, '192.0.2.1')).toBe(429);
    const other = { 'x-forwarded-for': '192.0.2.1, 192.0.2.2' };
    expect((await behind.ask('/api/fleet', { token: SECRETS.read, headers: other })).status).toBe(200);
    // A caller that is no known proxy can't claim another address.
    const open = await openApi({ API_TOKENS });
    expect(await guess(open.ask, '192.0.2.1')).toBe(429);
    expect((await open.ask('/api/fleet', { token: SECRETS.read, headers: other })).status).toBe(429);
  });

  test('an address that other machines can reach needs tokens, and tokens need long secrets', () => {
    const open = (environment: Record<string, string>) => () =>
      new ApiServer({ settings: settingsFrom({ flag: {}, environment, file: {} }), log: silentLog, isLocal: true });
    expect(open({ API_HOST: '0.0.0.0' })).toThrow(/API_TOKENS/);
    expect(open({ API_HOST: '0.0.0.0', API_TOKENS })).not.toThrow();
    expect(open({ API_HOST: '::1' })).not.toThrow();
    expect(open({ API_TOKENS: 'a:admin:short' })).toThrow(/secret of token a/);
    expect(open({ API_TOKENS: 'a:admin:fifteen-letters' })).toThrow(/secret of token a/);
    expect(open({ API_TOKENS: 'a:admin:sixteen--letters' })).not.toThrow();
    expect(open({ API_TOKENS: `${API_TOKENS},a:read:another-secret-of-a` })).toThrow(/token name a is used twice/);
    expect(open({ API_TOKENS: 'a:root:long-enough-for-a-secret' })).toThrow(/name:role:secret/);
    expect(open({ API_TOKENS: 'a:root:long-enough-for-a-secret' })).not.toThrow(/long-enough/);
  });
});
