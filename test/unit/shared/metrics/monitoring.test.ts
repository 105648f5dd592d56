import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { FleetMetrics } from '../../../../shared/metrics/fleet-metrics.ts';
import { PrometheusObserver } from '../../../../shared/metrics/prometheus-observer.ts';
import { metricNamesOf, samplesOf } from '../../../support/metrics/exposition.ts';
import { BUSY_FLEET } from '../../../support/metrics/fleet-readings.ts';

const DASHBOARDS = 'monitoring/grafana/dashboards';

/** What processes and a fleet export once each thing that is counted has happened. */
async function expositions(): Promise<readonly string[]> {
  const observer = new PrometheusObserver({ version: '1' });
  observer.watchWorker(() => ({ slots: 1, inHand: 0, bound: 'cpu' }));
  observer.watchBodies(() => 0);
  observer.settled('failed', 'timeout', 1);
  observer.fetched('ok', 1);
  observer.gateWaited(1);
  observer.recordWritten('jsonl');
  observer.storeCalled('redis', 'admit', 1);
  observer.storeIs('redis', true);
  observer.served('/api/fleet', 'GET', 200, 1);
  observer.webhookSent('delivered');
  return [await observer.registry.metrics(), await new FleetMetrics({ read: async () => BUSY_FLEET }).text()];
}

async function exported(): Promise<ReadonlySet<string>> {
  return new Set((await expositions()).flatMap((text) => [...metricNamesOf(text)]));
}

/** Each of our metrics with its labels, as the guide writes them: `trawl_bound{by}`. */
async function withLabels(): Promise<string[]> {
  const labels = new Map<string, Set<string>>();
  for (const sample of (await expositions()).flatMap((text) => [...samplesOf(text).keys()])) {
    const [, name = '', named = ''] = /^(trawl_\w+?)(?:_bucket|_count|_sum)?(?:\{(.*)\})?$/.exec(sample) ?? [];
    const known = labels.get(name) ?? new Set();
    for (const [, label = ''] of named.matchAll(/(\w+)="/g)) if (label !== 'le') known.add(label);
    if (name !== '') labels.set(name, known);
  }
  return [...labels].map(([name, set]) => (set.size === 0 ? name : `${name}{${[...set].join(',')}}`));
}

/** The metrics that a text names. */
function named(text: string): string[] {
  return [...new Set(text.match(/\b(?:trawl|process|nodejs)_[a-z0-9_]+/g) ?? [])];
}

test('these are the metrics: no more, and no fewer', async () => {
  const ours = [...(await exported())].filter((name) => name.startsWith('trawl_'));
  expect(ours.filter((name) => !/_(?:bucket|count|sum)$/.test(name)).toSorted()).toEqual([
    'trawl_body_memory_bytes',
    'trawl_bound',
    'trawl_build_info',
    'trawl_fetch_duration_seconds',
    'trawl_gate_wait_seconds',
    'trawl_hosts',
    'trawl_http_request_duration_seconds',
    'trawl_identity_gap',
    'trawl_last_settle_timestamp_seconds',
    'trawl_leases_lapsed_total',
    'trawl_oldest_dead_letter_age_seconds',
    'trawl_oldest_due_age_seconds',
    'trawl_output_free_bytes',
    'trawl_producers',
    'trawl_queue_consumers',
    'trawl_queue_messages_ready',
    'trawl_received_bytes_total',
    'trawl_records_written_total',
    'trawl_redis_memory_bytes',
    'trawl_redis_memory_limit_bytes',
    'trawl_releases_total',
    'trawl_runs',
    'trawl_slots',
    'trawl_store_call_duration_seconds',
    'trawl_store_up',
    'trawl_tasks',
    'trawl_tasks_in_hand',
    'trawl_tasks_settled_total',
    'trawl_webhook_deliveries_total',
    'trawl_workers',
    'trawl_workers_stuck',
    'trawl_workers_wanted',
  ]);
});

test('the guide has a row for each of them, with its labels', async () => {
  const [, tables = ''] = /^## Metrics$(.*?)^## /ms.exec(readFileSync('docs/operations.md', 'utf8')) ?? [];
  const cells = [...tables.matchAll(/^\| (`trawl_.*?) \|/gm)].flatMap(([, cell = '']) => cell.match(/trawl_[^`]+/g));
  expect(cells.toSorted()).toEqual((await withLabels()).toSorted());
});

test.each([
  'monitoring/prometheus/alerts.yml',
  'monitoring/prometheus/alerts.test.yml',
  ...readdirSync(DASHBOARDS).map((file) => `${DASHBOARDS}/${file}`),
  'docs/operations.md',
])('every metric that %s names is exported', async (file) => {
  const names = named(readFileSync(file, 'utf8'));
  expect(names.length).toBeGreaterThan(0);
  const known = await exported();
  expect(names.filter((name) => !known.has(name))).toEqual([]);
});

test('each alert has a test in which it fires, and a section of the guide that its runbook names', () => {
  const rules = readFileSync('monitoring/prometheus/alerts.yml', 'utf8');
  const tests = readFileSync('monitoring/prometheus/alerts.test.yml', 'utf8');
  const guide = readFileSync('docs/operations.md', 'utf8');
  const alerts = [...rules.matchAll(/- alert: (\w+)$/gm)].map(([, name = '']) => name);
  expect(alerts.length).toBeGreaterThanOrEqual(10);
  const runbooks = [...rules.matchAll(/runbook: (\S+)$/gm)].map(([, link]) => link);
  expect(runbooks).toEqual(alerts.map((name) => `docs/operations.md#${name.toLowerCase()}`));
  for (const name of alerts) {
    expect(tests, name).toMatch(new RegExp(`alertname: ${name}\\n +exp_alerts:\\n`));
    expect(guide, name).toContain(`### ${name}\n`);
  }
});

test('dashboards have ids of their own, show something in each panel, and fit their grid', () => {
  const boards = readdirSync(DASHBOARDS).map((file) => JSON.parse(readFileSync(`${DASHBOARDS}/${file}`, 'utf8')));
  expect(new Set(boards.map(({ uid }) => uid)).size).toBe(boards.length);
  for (const { panels } of boards) {
    for (const { title, targets, gridPos } of panels) {
      expect(
        targets.every(({ expr }: { expr: string }) => expr !== ''),
        title,
      ).toBe(true);
      expect(gridPos.x + gridPos.w, title).toBeLessThanOrEqual(24);
    }
  }
});

test.each(readdirSync(DASHBOARDS))(
  '%s works in any Grafana: its source is chosen there, and its jobs have any name',
  (file) => {
    const text = readFileSync(`${DASHBOARDS}/${file}`, 'utf8');
    const { templating } = JSON.parse(text);
    expect(templating.list).toMatchObject([{ name: 'datasource', type: 'datasource', query: 'prometheus' }]);
    const sources = [...text.matchAll(/"type": "prometheus",\s*"uid": "([^"]*)"/g)].map(([, uid]) => uid);
    expect([...new Set(sources)]).toEqual([`$${'{datasource}'}`]);
    expect(text).not.toMatch(/job=/);
  },
);
