import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { FleetMetrics } from '../../../shared/metrics/fleet-metrics.ts';
import { BUSY_FLEET } from '../../support/metrics/fleet-readings.ts';
import { needPromtool } from '../../support/servers/promtool.ts';

const promtool = needPromtool();
const DASHBOARDS = 'monitoring/grafana/dashboards';

test('Prometheus accepts the configuration and the rules, and each alert fires when it should', async () => {
  expect(await promtool.check('config', 'monitoring/prometheus/prometheus.yml')).toContain('SUCCESS');
  expect(await promtool.check('rules', 'monitoring/prometheus/alerts.yml')).toContain('11 rules found');
  expect(await promtool.testRules('monitoring/prometheus/alerts.test.yml')).toContain('SUCCESS');
});

test('Prometheus can parse every expression of the dashboards', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'trawl-rules-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const boards = await Promise.all(
    (await readdir(DASHBOARDS)).map(async (file) => JSON.parse(await readFile(join(DASHBOARDS, file), 'utf8'))),
  );
  const expressions: string[] = boards.flatMap(({ panels }) =>
    panels.flatMap(({ targets }: { targets: { expr: string }[] }) => targets.map(({ expr }) => expr)),
  );
  const rules = expressions.map((expr, index) => ({ record: `panel:${index}`, expr }));
  const file = join(folder, 'panels.yml');
  // JSON is YAML.
  await writeFile(file, JSON.stringify({ groups: [{ name: 'panels', rules }] }));
  expect(await promtool.check('rules', file)).toContain(`${rules.length} rules found`);
});

test('promtool finds nothing wrong with the metrics of a fleet', async () => {
  expect(await promtool.checkMetrics(await new FleetMetrics({ read: async () => BUSY_FLEET }).text())).toBe('');
});

test('promtool reports broken metrics and rules', async () => {
  await expect(promtool.checkMetrics('# TYPE a_total gauge\na_total 1\n')).rejects.toThrow('non-counter metrics');
  await expect(promtool.check('rules', 'monitoring/prometheus/prometheus.yml')).rejects.toThrow('FAILED');
});
