import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openControlMetrics } from '../../../../shared/metrics/process-metrics.ts';
import { freeSpaceOf } from '../../../../shared/runtime/files/free-space.ts';
import { type Logger, silentLog } from '../../../../shared/runtime/logger.ts';
import { pages } from '../../../contract/suites/frontier/frontier-setup.ts';
import { FAST_RUN } from '../../../support/builders.ts';
import { metricNamesOf, samplesOf } from '../../../support/metrics/exposition.ts';
import { SteppedClock } from '../../../support/stores/stepped-clock.ts';
import { openSqliteStore } from '../../../support/stores/stores.ts';

async function setup({ isLocal = false, port = undefined as number | undefined, log = silentLog as Logger } = {}) {
  const store = await openSqliteStore();
  const away: string[] = [];
  const { runs, hosts } = store;
  const link = {
    isLocal,
    away,
    withStores: async <T>(action: (stores: never) => Promise<T>): Promise<T> => {
      if (away.includes('Redis is away')) throw new Error('Redis is away');
      return await action({ runs, hosts, roster: { workers: async () => [] } } as never);
    },
    withLetters: async <T>(action: (letters: never) => Promise<T>) => await action({ browse: async () => [] } as never),
    depths: async () => undefined,
  };
  const clock = new SteppedClock();
  const settings = { metricsPort: port, metricsHost: '127.0.0.1' };
  const freeBytes = () => freeSpaceOf(join(tmpdir(), 'not', 'there'));
  const metrics = await openControlMetrics({ settings, log }, { link, clock, hostConcurrency: 2, freeBytes });
  await metrics.start();
  onTestFinished(async () => {
    await metrics.stop();
    await store.close();
  });
  return { ...store, away, clock, metrics };
}

test('the metrics of the process and of the fleet, in one text, each name once', async () => {
  const { metrics, runs, port: frontier } = await setup();
  await runs.open('r', { ...FAST_RUN, intervalMs: 1_000 }, 'p');
  await frontier.offer('r', pages(1, 5));
  metrics.served('/api/runs/:run', 'GET', 404, 12);
  metrics.webhookSent('failed');
  const text = await metrics.text();
  const samples = samplesOf(text);
  expect(Object.fromEntries(samples)).toMatchObject({
    'trawl_tasks{state="waiting"}': 5,
    trawl_workers_wanted: 1,
    trawl_identity_gap: 0,
    'trawl_http_request_duration_seconds_count{route="/api/runs/:run",method="GET",code="404"}': 1,
    'trawl_webhook_deliveries_total{result="failed"}': 1,
    'trawl_store_up{store="redis"}': 1,
    'trawl_store_up{store="rabbitmq"}': 1,
  });
  expect(samples.get('trawl_output_free_bytes')).toBeGreaterThan(0);
  expect(text.match(/^# TYPE /gm)).toHaveLength(
    [...metricNamesOf(text)].filter((name) => text.includes(`# TYPE ${name} `)).length,
  );
  expect(text.endsWith('\n')).toBe(true);
  expect(await metrics.workersWanted()).toBe(1);
});

test('while Redis is unreachable it is reported as down, and its values are missing until it is back', async () => {
  const { metrics, away } = await setup();
  away.push('Redis is away');
  const samples = samplesOf(await metrics.text());
  expect(samples.get('trawl_store_up{store="redis"}')).toBe(0);
  expect(samples.get('trawl_store_up{store="rabbitmq"}')).toBe(1);
  expect(samples.has('trawl_oldest_due_age_seconds')).toBe(false);
  expect(samples.has('trawl_oldest_dead_letter_age_seconds')).toBe(true);
  expect(await metrics.workersWanted()).toBeUndefined();
  away.pop();
  expect(samplesOf(await metrics.text()).get('trawl_oldest_due_age_seconds')).toBe(0);
});

test('one machine has no services; METRICS_PORT serves the same', async () => {
  const urls: string[] = [];
  const log = { ...silentLog, info: (fields: object) => void urls.push((fields as { url: string }).url) };
  await setup({ isLocal: true, port: 0, log });
  const text = await (await fetch(urls[0] ?? '')).text();
  expect([...samplesOf(text).keys()]).toContain('trawl_tasks{state="waiting"}');
  expect(text).not.toContain('trawl_store_up{');
});
