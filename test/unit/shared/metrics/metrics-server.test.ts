import { createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { MetricsServer } from '../../../../shared/metrics/metrics-server.ts';
import { openProcessMetrics } from '../../../../shared/metrics/process-metrics.ts';
import { silentLog } from '../../../../shared/runtime/logger.ts';

async function setup({ read = async () => 'trawl_slots 1\n', port = 0, isBrief = false } = {}) {
  const said: [string, string][] = [];
  const log = {
    ...silentLog,
    warn: (_: object, message: string) => void said.push(['warn', message]),
    info: (_: object, message: string) => void said.push(['info', message]),
  };
  const server = new MetricsServer({ host: '127.0.0.1', port, read, log, isBrief });
  await server.start();
  onTestFinished(() => server.stop());
  return { server, said, url: server.url ?? 'http://nowhere.invalid/' };
}

test('serves the metrics with their content type, and nothing else', async () => {
  const { url, server } = await setup();
  const answer = await fetch(url);
  expect([answer.status, answer.headers.get('content-type'), await answer.text()]).toEqual([
    200,
    'text/plain; version=0.0.4; charset=utf-8',
    'trawl_slots 1\n',
  ]);
  expect((await fetch(`${url}?name[]=x`)).status).toBe(200);
  expect((await fetch(url, { method: 'HEAD' })).status).toBe(200);
  expect((await fetch(url, { method: 'POST', body: 'x' })).status).toBe(405);
  for (const path of ['/', '/metrics/', '/metrics/../etc/passwd'])
    expect((await fetch(new URL(path, url))).status, path).toBe(404);
  await server.stop();
  await server.stop();
  await expect(fetch(url)).rejects.toThrow();
});

test('unreadable metrics are answered with 503, without the reason', async () => {
  const { url, said } = await setup({ read: () => Promise.reject(new Error('redis://:secret@host')) });
  const answer = await fetch(url);
  expect([answer.status, await answer.text()]).toEqual([503, 'The metrics could not be read.\n']);
  expect(said.at(-1)?.[0]).toBe('warn');
});

test('a taken port is logged, as a warning unless the process ends soon, and the process works on', async () => {
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void other.close());
  const { port } = other.address() as { port: number };
  for (const isBrief of [false, true]) {
    const { server, said } = await setup({ port, isBrief });
    expect(server.url).toBeUndefined();
    expect(said).toEqual([[isBrief ? 'info' : 'warn', 'no metrics are served (METRICS_HOST, METRICS_PORT):']]);
  }
});

test('without METRICS_PORT, a process keeps its own ports', async () => {
  const metrics = await openProcessMetrics({
    settings: { metricsPort: undefined, metricsHost: '127.0.0.1' },
    log: silentLog,
  });
  const [sink, fetcher, connected] = [{}, {}, { stores: {}, transport: {} }] as never[];
  expect(metrics.sink(sink as never, 'jsonl')).toBe(sink);
  expect(metrics.fetcher(fetcher as never)).toBe(fetcher);
  expect(metrics.fleet(connected as never)).toBe(connected);
  expect(metrics.observer).toBeUndefined();
});
