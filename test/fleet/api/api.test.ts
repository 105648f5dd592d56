import { describe, expect, test } from 'vitest';
import { AT_FULL_SPEED } from '../../support/full-speed.ts';
import { openApi } from '../../support/processes/api-process.ts';
import { openFleet } from '../../support/processes/fleet.ts';

const CANARY = 'canary-of-a-token-12345';

describe('the API of a fleet', () => {
  test('a distributed batch of 50 answers in order, with failures, duplicates and a malformed URL', async () => {
    const { workplace, site } = await openFleet({ pages: 60 });
    workplace.start(['work', ...AT_FULL_SPEED]);
    const { ask } = await openApi(workplace);
    await expect.poll(async () => (await ask('/api/crawl/distributed/status')).json.distributed_available).toBe(true);
    const pages = Array.from({ length: 44 }, (_, i) => site.url(`/page/${i + 1}`));
    const bad = [site.url('/status/404'), site.url('/status/410'), site.url('/status/403')];
    const urls = [...pages, ...bad, ...pages.slice(0, 2), 'no URL'];
    const body = { urls, distributed: true, timeout: 40 };
    const { status, json } = await ask('/api/crawl/batch', body);
    expect([status, json.stats]).toEqual([
      200,
      { total: 50, success: 46, failed: 4, skipped: 0, timeout: 0, workers_used: 1 },
    ]);
    expect(json.results.map(({ url }: { url: string }) => url)).toEqual(urls);
    expect(json.results[47]).toEqual(json.results[0]);
    expect((await ask(`/api/crawl/batch/${json.session_id}`)).json.results).toEqual(json.results);
    expect((await ask(`/api/runs/${json.session_id}`)).json).toMatchObject({ state: 'finished', done: 44, failed: 3 });
  });

  test('a client that disconnects half-way cancels its batch', async () => {
    const { workplace, site } = await openFleet({ pages: 5 });
    workplace.start(['work', ...AT_FULL_SPEED]);
    const { ask, url } = await openApi(workplace);
    await expect.poll(async () => (await ask('/api/crawl/distributed/status')).json.distributed_available).toBe(true);
    site.on('/never', () => {});
    const over = new AbortController();
    const body = JSON.stringify({ urls: [site.url('/never')], distributed: true, timeout: 60 });
    const headers = { 'content-type': 'application/json' };
    const asked = fetch(new URL('/api/crawl/batch', url), { method: 'POST', body, headers, signal: over.signal });
    await site.arrival('/never');
    over.abort();
    await expect(asked).rejects.toThrow();
    const states = async (): Promise<string[]> =>
      (await ask('/api/runs')).json.runs.map(({ state }: { state: string }) => state);
    await expect.poll(states).toEqual(['cancelled']);
  });

  test('the Idempotency-Key of another request is refused, also by another API, and before a 202', async () => {
    const { workplace, site } = await openFleet({ pages: 5 });
    workplace.start(['work', ...AT_FULL_SPEED]);
    const [first, second] = [await openApi(workplace), await openApi(workplace)];
    const isReady = async () => (await first.ask('/api/crawl/distributed/status')).json.distributed_available;
    await expect.poll(isReady).toBe(true);
    const headers = { 'idempotency-key': 'k1', prefer: 'respond-async' };
    const send = async ({ ask }: typeof first, page: number) => {
      const body = { urls: [site.url(`/page/${page}`)], distributed: true, timeout: 40 };
      return await ask('/api/crawl/batch', body, headers);
    };
    const begun = await send(first, 1);
    expect(begun.status).toBe(202);
    const refused = await send(second, 2);
    expect([refused.status, refused.json.code]).toEqual([409, 'wrong_state']);
    const { entries } = (await second.ask('/api/audit')).json;
    expect(entries, 'the refused one is not noted as done').toMatchObject([{ action: 'batch' }]);
    const again = await send(second, 1);
    expect([again.status, again.json.session_id]).toEqual([202, begun.json.session_id]);
  });

  test('a worker reports each task in hand with its URL, run, step and age', async () => {
    const { workplace, site } = await openFleet({ pages: 5 });
    workplace.start(['work', ...AT_FULL_SPEED]);
    const { ask } = await openApi(workplace);
    site.on('/never', () => {});
    const seeds = [site.url('/never').replace('://', '://user:canary@')];
    expect((await ask('/api/runs', { run: 'slow', seeds })).status).toBe(202);
    await site.arrival('/never');
    const named = [{ run: 'slow', url: site.url('/never'), step: '', forMs: expect.any(Number) }];
    const tasks = async (): Promise<unknown> => (await ask('/api/workers')).json.workers[0]?.tasks;
    // Beats come every five seconds.
    await expect.poll(tasks).toEqual(named);
    const [{ id }] = (await ask('/api/workers')).json.workers;
    expect((await ask(`/api/workers/${id}`)).json).toMatchObject({ inHand: 1, tasks: named });
    expect((await workplace.json(['workers'])).workers).toMatchObject([{ id, tasks: named }]);
    const { stdout } = await workplace.run(['workers']);
    expect(stdout).toMatch(/Longest in hand:\n {2}.+ {2}slow {2}http:\S+\/never/);
    expect((await ask('/api/fleet')).json.workers[0]).not.toHaveProperty('tasks');
  });

  test('the API refuses requests without a token, and shows secrets in no answer and no log line', async () => {
    const { workplace, site } = await openFleet({ pages: 5 });
    const env = { API_TOKENS: `boss:admin:${CANARY}`, LOG_LEVEL: 'debug' };
    const { ask, process } = await openApi(workplace, env);
    expect((await ask('/api/fleet')).status).toBe(401);
    const headers = { authorization: `Bearer ${CANARY}` };
    const seed = site.url('/page/1').replace('://', `://canary-of-a-login:${CANARY}@`);
    const run = {
      run: 'c1',
      seeds: [seed],
      webhook: { url: site.url('/hook'), secret: `whsec_${btoa(`${CANARY}x`)}` },
    };
    const answers = [
      await ask('/api/runs', run, headers),
      await ask('/api/runs/c1/offers', { urls: [seed] }, headers),
      await ask('/api/forget', { url: seed }, headers),
      await ask('/api/session', { token: `${CANARY}-wrong` }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([202, 409, 200, 401]);
    const paths = [
      'fleet',
      'runs',
      'runs/c1',
      'runs/c1/webhook',
      'hosts',
      'workers',
      'dlq',
      'audit',
      'doctor',
      'session',
    ];
    for (const path of [...paths, `urls?url=${encodeURIComponent(seed)}`])
      answers.push(await ask(`/api/${path}`, undefined, headers));
    for (const path of ['/metrics', '/openapi.json', '/']) answers.push(await ask(path, undefined, headers));
    for (const { text } of answers) expect(text).not.toMatch(/canary-of|Y2FuYXJ5/);
    process.signal('SIGTERM');
    const { stdout, stderr } = await process.ended;
    expect(stdout + stderr).not.toMatch(/canary-of|Y2FuYXJ5/);
  });
});

test('while Redis and RabbitMQ are away, the API answers 503 with Retry-After, and /healthz still answers 200', async () => {
  const { workplace } = await openFleet();
  const nowhere = { REDIS_URL: 'redis://127.0.0.1:1', RABBITMQ_URL: 'amqp://127.0.0.1:1' };
  const process = workplace.start(['api', '--api-port', '0'], undefined, { env: nowhere });
  await process.says(/Listening on http/);
  const [url = ''] = /http:\/\/\S+/.exec(process.said) ?? [];
  for (const path of ['/readyz', '/api/fleet', '/api/runs', '/api/hosts', '/api/dlq', '/api/autoscale']) {
    const answer = await fetch(new URL(path, url));
    expect([path, answer.status, answer.headers.has('retry-after')]).toEqual([path, 503, true]);
  }
  expect((await fetch(new URL('/healthz', url))).status).toBe(200);
  process.signal('SIGTERM');
  expect((await process.ended).code).toBe(0);
});
