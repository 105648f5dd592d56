import { describe, expect, onTestFinished } from 'vitest';
import { type ApiProcess, openApi } from '../support/processes/api-process.ts';
import { openCrawl } from './harness/crawl.ts';
import { row } from './harness/row.ts';
import { ownServers } from './harness/servers.ts';
import { until } from './harness/until.ts';

const servers = ownServers('redis', 'rabbitmq');

type Needed = 'redis' | 'rabbitmq' | 'both' | 'nothing';
/** Every route, the services it needs, and a well-formed request. */
const ROUTES: Readonly<Record<string, readonly [needs: Needed, path: string, body?: object]>> = {
  'get /healthz': ['nothing', '/healthz'],
  'get /readyz': ['both', '/readyz'],
  'get /metrics': ['nothing', '/metrics'],
  'get /api/session': ['nothing', '/api/session'],
  'post /api/session': ['nothing', '/api/session', { token: 'none' }],
  'delete /api/session': ['nothing', '/api/session', {}],
  'get /api/fleet': ['redis', '/api/fleet'],
  'get /api/fleet/history': ['nothing', '/api/fleet/history'],
  'post /api/fleet/pause': ['redis', '/api/fleet/pause', {}],
  'post /api/fleet/resume': ['redis', '/api/fleet/resume', {}],
  'get /api/workers': ['redis', '/api/workers'],
  'get /api/workers/{worker}': ['redis', '/api/workers/w'],
  'get /api/autoscale': ['redis', '/api/autoscale'],
  'get /api/doctor': ['nothing', '/api/doctor'],
  'get /api/audit': ['nothing', '/api/audit'],
  'get /api/runs': ['redis', '/api/runs'],
  'post /api/runs': ['redis', '/api/runs', { seeds: [] }],
  'get /api/runs/{run}': ['redis', '/api/runs/r1'],
  'post /api/runs/{run}/offers': ['redis', '/api/runs/r1/offers', { urls: ['http://127.0.0.1:9/'] }],
  'post /api/runs/{run}/pause': ['redis', '/api/runs/r1/pause', {}],
  'post /api/runs/{run}/resume': ['redis', '/api/runs/r1/resume', {}],
  'post /api/runs/{run}/cancel': ['redis', '/api/runs/r1/cancel', {}],
  'post /api/runs/{run}/seal': ['redis', '/api/runs/r1/seal', {}],
  'get /api/runs/{run}/records': ['redis', '/api/runs/r1/records'],
  'get /api/runs/{run}/webhook': ['nothing', '/api/runs/r1/webhook'],
  'post /api/runs/{run}/webhook/replay': ['nothing', '/api/runs/r1/webhook/replay', {}],
  'get /api/crawlers': ['nothing', '/api/crawlers'],
  'get /api/crawlers/{crawler}/graph': ['nothing', '/api/crawlers/nix/graph'],
  'get /api/dlq': ['rabbitmq', '/api/dlq'],
  'get /api/dlq/{letter}': ['rabbitmq', '/api/dlq/x'],
  'post /api/dlq/replay': ['both', '/api/dlq/replay', { all: true }],
  'post /api/dlq/purge': ['rabbitmq', '/api/dlq/purge', { all: true }],
  'get /api/hosts': ['redis', '/api/hosts'],
  'post /api/hosts/{host}/pause': ['redis', '/api/hosts/a.test/pause', {}],
  'post /api/hosts/{host}/resume': ['redis', '/api/hosts/a.test/resume', {}],
  'put /api/hosts/{host}/limit': ['redis', '/api/hosts/a.test/limit', { rate: '60/min' }],
  'delete /api/hosts/{host}/limit': ['redis', '/api/hosts/a.test/limit', {}],
  'get /api/urls': ['redis', '/api/urls?url=http%3A%2F%2Fa.test%2F'],
  'post /api/forget': ['redis', '/api/forget', { host: 'a.test' }],
  'post /api/crawl/batch': ['redis', '/api/crawl/batch', { urls: ['http://127.0.0.1:9/'], distributed: true }],
  'get /api/crawl/batch/{batch}': ['redis', '/api/crawl/batch/batch-1'],
  'get /api/crawl/distributed/status': ['nothing', '/api/crawl/distributed/status'],
  'get /api/events': ['nothing', '/api/events'],
};

/** Listens to the events of the API, and collects their names in order. */
async function listen({ url }: ApiProcess): Promise<string[]> {
  const over = new AbortController();
  onTestFinished(() => over.abort());
  const response = await fetch(new URL('/api/events', url), { signal: over.signal });
  const events: string[] = [];
  const read = async (): Promise<void> => {
    for await (const chunk of response.body ?? [])
      for (const [, name = ''] of new TextDecoder().decode(chunk).matchAll(/^event: (\w+)$/gm)) events.push(name);
  };
  void read().catch(() => {});
  return events;
}

/** Requests every route. Returns those with a wrong answer while service `away` is away, or while none is. */
async function askAll(api: ApiProcess, away: 'redis' | 'rabbitmq' | undefined): Promise<unknown[]> {
  const wrong: unknown[] = [];
  for (const [route, [needs, path, body]] of Object.entries(ROUTES)) {
    if (path === '/api/events') continue;
    // A changing request would open another run; only reading ones are sent.
    if (away === undefined && body !== undefined) continue;
    const [method = ''] = route.split(' ');
    const startedAt = performance.now();
    const { status, headers, json } = await api.ask(path, body, {}, method.toUpperCase());
    const seconds = (performance.now() - startedAt) / 1_000;
    const isAway = away !== undefined && (needs === away || needs === 'both');
    const isRight = isAway
      ? status === 503 && json?.code === 'unavailable' && Number(headers.get('retry-after')) > 0 && seconds < 5
      : status !== 503 || (path === '/api/crawl/batch' && away === 'rabbitmq');
    if (!isRight) wrong.push([route, status, json?.detail, seconds]);
  }
  return wrong;
}

describe('services of the API go away and come back', () => {
  row('3b', 'Redis, then the broker, goes away under the API, and comes back', async (round) => {
    const { redis, rabbitmq } = servers();
    const crawl = await openCrawl(round, { redisUrl: redis.url, rabbitmqUrl: rabbitmq.url });
    const api = await openApi(crawl.workplace);
    const described = Object.entries((await api.ask('/openapi.json')).json.paths as Record<string, object>);
    const routes = described.flatMap(([path, methods]) => Object.keys(methods).map((method) => `${method} ${path}`));
    expect(Object.keys(ROUTES).toSorted(), 'every route').toEqual(routes.toSorted());
    expect((await api.ask('/api/runs', { run: 'r1', seeds: [] })).status).toBe(202);
    const events = await listen(api);
    await until('the fleet is in the events', () => events.includes('fleet'));
    const ready = async (is: boolean): Promise<void> =>
      until(`ready: ${is}`, async () => ((await api.ask('/readyz')).status === 200) === is, { withinMs: 90_000 });
    await redis.stop();
    await ready(false);
    // An answer read a few seconds ago may still be served.
    await until('the autoscaler is refused', async () => (await api.ask('/api/autoscale')).status === 503);
    expect(await askAll(api, 'redis')).toEqual([]);
    await until('listeners are told', () => events.at(-1) === 'unavailable');
    await redis.start();
    await ready(true);
    await until('listeners are told again', () => events.at(-1) === 'fleet');
    expect(await askAll(api, undefined)).toEqual([]);
    await rabbitmq.stop();
    await ready(false);
    // One browse of the letters is served for ten seconds.
    await until('letters are refused', async () => (await api.ask('/api/dlq')).status === 503);
    expect(await askAll(api, 'rabbitmq')).toEqual([]);
    const told = events.length;
    await until('events go on', () => events.length > told && events.at(-1) === 'fleet');
    await rabbitmq.start();
    round.mended();
    await ready(true);
    expect(await askAll(api, undefined)).toEqual([]);
    api.process.signal('SIGTERM');
    const { code, stderr } = await api.process.ended;
    expect([code, /unhandled|uncaught|a bug in Trawl/i.exec(stderr)]).toEqual([0, null]);
  });
});
