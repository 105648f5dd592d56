import { expect, test } from 'vitest';
import {
  measuredFetcher,
  measuredFrontier,
  measuredGate,
  measuredSink,
  type PortObserver,
} from '../../../../shared/metrics/measured-ports.ts';
import { PrometheusObserver } from '../../../../shared/metrics/prometheus-observer.ts';
import { FetchError, type FetchedPage, type Fetcher } from '../../../../shared/ports/fetcher.ts';
import type { DoneRecord } from '../../../../shared/ports/record.ts';
import { pages } from '../../../contract/suites/frontier/frontier-setup.ts';
import { FAST_RUN } from '../../../support/builders.ts';
import { samplesOf } from '../../../support/metrics/exposition.ts';
import { openSqliteStore } from '../../../support/stores/stores.ts';

const ROOM = { limit: 200, window: 1_000, unpaced: true };

/** Those of its metrics whose names begin like this. */
async function read({ registry }: PrometheusObserver, prefix: string): Promise<Record<string, number>> {
  const samples = [...samplesOf(await registry.metrics())].filter(([name]) => name.startsWith(prefix));
  return Object.fromEntries(samples.filter(([name]) => !/_bucket|_sum/.test(name)));
}

test("settles are counted by outcome and reason, once: late ones don't count", async () => {
  const store = await openSqliteStore();
  const observer = new PrometheusObserver({ version: '1' });
  const frontier = measuredFrontier(store.port, 'sqlite', observer);
  await store.runs.open('r', FAST_RUN, 'p');
  await frontier.offer('r', pages(1, 4));
  const { tasks } = await frontier.release(ROOM);
  expect(tasks).toHaveLength(4);
  const [a, b, c, d] = tasks.map(({ release, task }) => ({ release, mark: task.mark }));
  if (a === undefined || b === undefined || c === undefined || d === undefined) throw new Error('four tasks');
  for (const name of [a, b, c]) await frontier.admit('r', name, 'w');
  await frontier.settle('r', a, { outcome: { kind: 'done' } });
  expect(await frontier.settle('r', a, { outcome: { kind: 'done' } })).toBe('already');
  await frontier.settle('r', b, { outcome: { kind: 'skipped', reason: 'robots' } });
  await frontier.settle('r', c, { outcome: { kind: 'retry', reason: 'timeout', inMs: 0 }, hostAnswered: false });
  await frontier.fail('r', [d], 'deadline');
  const settled = Object.entries(await read(observer, 'trawl_tasks_settled'));
  expect(Object.fromEntries(settled.filter(([, count]) => count > 0))).toEqual({
    'trawl_tasks_settled_total{outcome="done",reason=""}': 1,
    'trawl_tasks_settled_total{outcome="skipped",reason="robots"}': 1,
    'trawl_tasks_settled_total{outcome="retry",reason="timeout"}': 1,
    'trawl_tasks_settled_total{outcome="failed",reason="deadline"}': 1,
  });
  expect(await read(observer, 'trawl_releases')).toEqual({ trawl_releases_total: 4 });
  expect(await read(observer, 'trawl_store_call')).toMatchObject({
    'trawl_store_call_duration_seconds_count{store="sqlite",operation="admit"}': 3,
    'trawl_store_call_duration_seconds_count{store="sqlite",operation="settle"}': 4,
  });
  await store.close();
});

test('events that have not happened yet count as 0, so that the first is an increase', async () => {
  const observer = new PrometheusObserver({ version: '1' });
  const begun = { ...(await read(observer, 'trawl_tasks_settled')), ...(await read(observer, 'trawl_webhook')) };
  expect(begun).toMatchObject({
    'trawl_tasks_settled_total{outcome="done",reason=""}': 0,
    'trawl_tasks_settled_total{outcome="skipped",reason="robots"}': 0,
    'trawl_tasks_settled_total{outcome="failed",reason="dns"}': 0,
    'trawl_webhook_deliveries_total{result="failed"}': 0,
  });
  expect(new Set(Object.values(begun))).toEqual(new Set([0]));
});

test('leases that lapse are counted', async () => {
  const store = await openSqliteStore();
  const observer = new PrometheusObserver({ version: '1' });
  const frontier = measuredFrontier(store.port, 'sqlite', observer);
  await store.runs.open('r', FAST_RUN, 'p');
  await frontier.offer('r', pages(1, 3));
  await frontier.release(ROOM);
  store.step(86_400_000);
  expect(await frontier.reap()).toBe(3);
  expect(await read(observer, 'trawl_leases')).toEqual({ trawl_leases_lapsed_total: 3 });
  await store.close();
});

const PAGE: FetchedPage = {
  finalUrl: 'http://a.test/',
  status: 200,
  headers: {},
  body: new Uint8Array(7),
  durationMs: 12,
};

/** A fetcher whose requests come to what its URL says: a status, or a reason. */
const fetcher: Fetcher = {
  prepare: async () => {},
  fetch: async ({ url }) => {
    const said = new URL(url).pathname.slice(1);
    if (/^\d/.test(said)) return { ...PAGE, status: Number(said) };
    throw said === 'bug' ? new TypeError('a bug') : new FetchError('timeout', 'late');
  },
  open: async () => {
    async function* body() {
      yield new Uint8Array(3);
      yield new Uint8Array(4);
    }
    return { ...PAGE, body: Object.assign(body(), { destroy: () => {} }) };
  },
  variantOf: (url) => `variant of ${url}`,
  stop: async () => {},
  isNetworkAway: true,
  isWithoutProxy: true,
  mostAtOnce: 7,
  waitingForMemory: 5,
};

test('requests are counted by outcome, and bytes as they are read', async () => {
  const observer = new PrometheusObserver({ version: '1' });
  const measured = measuredFetcher(fetcher, observer);
  const ask = (said: string) => measured.fetch({ url: `http://a.test/${said}`, maxBodyBytes: 9 }).catch(() => {});
  for (const said of ['200', '304', '404', '503', 'timeout', 'bug']) await ask(said);
  const document = await measured.open({ url: 'http://a.test/robots.txt' });
  expect(await read(observer, 'trawl_received')).toEqual({ trawl_received_bytes_total: 28 });
  for await (const _ of document.body);
  expect(await read(observer, 'trawl_received')).toEqual({ trawl_received_bytes_total: 35 });
  expect(await read(observer, 'trawl_fetch')).toEqual({
    'trawl_fetch_duration_seconds_count{outcome="ok"}': 3,
    'trawl_fetch_duration_seconds_count{outcome="http_4xx"}': 1,
    'trawl_fetch_duration_seconds_count{outcome="http_5xx"}': 1,
    'trawl_fetch_duration_seconds_count{outcome="timeout"}': 1,
  });
  expect(measured.isWithoutProxy).toBe(true);
  expect([measured.mostAtOnce, measured.isNetworkAway, measured.waitingForMemory, measured.variantOf('x')]).toEqual([
    7,
    true,
    5,
    'variant of x',
  ]);
});

test('a task in hand is at one stage, or counted as other', async () => {
  const observer = new PrometheusObserver({ version: '1' });
  observer.watchWorker(() => ({ slots: 8, inHand: 3, bound: 'memory' }));
  const { promise, resolve } = Promise.withResolvers<void>();
  const waiting = { put: () => promise, start: async () => {}, stop: async () => {} };
  const sink = measuredSink(waiting, 'jsonl', observer);
  const put = sink.put({} as DoneRecord);
  expect(await read(observer, 'trawl_tasks_in_hand')).toMatchObject({
    'trawl_tasks_in_hand{stage="record"}': 1,
    'trawl_tasks_in_hand{stage="other"}': 2,
  });
  expect(await read(observer, 'trawl_records')).toEqual({});
  resolve();
  await put;
  expect(await read(observer, 'trawl_tasks_in_hand{stage="record"}')).toEqual({
    'trawl_tasks_in_hand{stage="record"}': 0,
  });
  expect(await read(observer, 'trawl_records')).toEqual({ 'trawl_records_written_total{sink="jsonl"}': 1 });
  expect(await read(observer, 'trawl_bound')).toMatchObject({
    'trawl_bound{by="memory"}': 1,
    'trawl_bound{by="cpu"}': 0,
  });
});

test('a call that fails is timed, leaves its stage, and fails as before', async () => {
  const observer: PortObserver = new PrometheusObserver({ version: '1' });
  const store = await openSqliteStore();
  const gate = measuredGate(
    Object.assign(Object.create(store.gate), { ask: () => Promise.reject(new Error('Redis is away')) }),
    'redis',
    observer,
  );
  await expect(gate.ask('a.test', { intervalMs: 0, concurrency: 1 }, 'h')).rejects.toThrow('Redis is away');
  expect(await read(observer as PrometheusObserver, 'trawl_store_call')).toEqual({
    'trawl_store_call_duration_seconds_count{store="redis",operation="gate_ask"}': 1,
  });
  await store.close();
});
