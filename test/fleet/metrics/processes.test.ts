import { expect, test } from 'vitest';
import { AT_FULL_SPEED } from '../../support/full-speed.ts';
import { samplesOf } from '../../support/metrics/exposition.ts';
import { openFleet } from '../../support/processes/fleet.ts';
import { AFTER_A_KILL_MS } from '../../support/processes/kills.ts';
import type { Trawl } from '../../support/processes/trawl.ts';
import { needPromtool } from '../../support/servers/promtool.ts';

const promtool = needPromtool();
const WORK = [...AT_FULL_SPEED, '--log-format', 'json', '--metrics-port', '0'];
const DONE = 'trawl_tasks_settled_total{outcome="done",reason=""}';

/** The URL at which a process serves its metrics. */
async function urlOf(trawl: Trawl): Promise<string> {
  await trawl.says(/serving metrics/);
  const line = trawl.said.split('\n').find((text) => text.includes('serving metrics')) ?? '{}';
  return JSON.parse(line).url;
}

async function scrape(url: string): Promise<{ readonly text: string; readonly samples: ReadonlyMap<string, number> }> {
  const text = await (await fetch(url)).text();
  return { text, samples: samplesOf(text) };
}

test('a worker exports metrics that promtool accepts and whose counters match the run', async () => {
  const { workplace, site } = await openFleet({ pages: 40 });
  site.on('/page/7', (_, response) => void response.writeHead(404).end());
  const worker = workplace.start(['work', ...WORK]);
  const url = await urlOf(worker);
  expect(new URL(url).hostname).toBe('127.0.0.1');
  await worker.says(/"consuming"/);
  const run = await workplace.json(['produce', site.url('/sitemap.xml'), '--wait', ...AT_FULL_SPEED]);
  expect(run).toMatchObject({ done: 39, failed: 1 });
  const { text, samples } = await scrape(url);
  expect(await promtool.checkMetrics(text)).toBe('');
  expect(Object.fromEntries(samples)).toMatchObject({
    [DONE]: 39,
    'trawl_tasks_settled_total{outcome="failed",reason="http_4xx"}': 1,
    'trawl_records_written_total{sink="jsonl"}': 40,
    'trawl_store_up{store="redis"}': 1,
    'trawl_store_up{store="rabbitmq"}': 1,
    'trawl_tasks_in_hand{stage="fetch"}': 0,
    trawl_body_memory_bytes: 0,
  });
  expect(samples.get('trawl_received_bytes_total')).toBeGreaterThanOrEqual(run.bytes);
  expect(samples.get('trawl_fetch_duration_seconds_count{outcome="ok"}')).toBeGreaterThanOrEqual(39);
  expect(samples.get('trawl_gate_wait_seconds_count')).toBeGreaterThanOrEqual(40);
  // Names without values: a number can contain the digits of a port by chance.
  const names = text.replace(/ \S+$/gm, '');
  expect(names).toContain('trawl_tasks_in_hand{stage="fetch"}');
  for (const secret of [run.run, new URL(site.url('/')).port, '/page/']) expect(names).not.toContain(secret);
  // As of the last heartbeat, which may have been before the end of the run.
  await expect
    .poll(async () => (await workplace.json(['status'])).workers)
    .toMatchObject([{ inHand: 0, progress: { stuckAfterMs: 60_000 } }]);
  worker.signal('SIGTERM');
  expect((await worker.ended).code).toBe(0);
  await expect(fetch(url)).rejects.toThrow();
});

test('a producer exports metrics of its reading and offering, and none of a worker', async () => {
  const { workplace, site } = await openFleet({ pages: 3 });
  const producer = workplace.start([
    ...['produce', site.url('/sitemap.xml'), '--wait', ...AT_FULL_SPEED],
    ...['--metrics-port', '0', '--log-level', 'info', '--log-format', 'json'],
  ]);
  const url = await urlOf(producer);
  const offers = async () =>
    (await scrape(url)).samples.get('trawl_store_call_duration_seconds_count{store="redis",operation="offer"}');
  await expect.poll(offers).toBeGreaterThan(0);
  const { text, samples } = await scrape(url);
  expect(await promtool.checkMetrics(text)).toBe('');
  expect(samples.get('trawl_fetch_duration_seconds_count{outcome="ok"}')).toBeGreaterThan(0);
  expect(samples.get('trawl_received_bytes_total')).toBeGreaterThan(100);
  expect([...samples.keys()], 'no worker is here').not.toContain('trawl_slots');
  producer.signal('SIGTERM');
  await producer.ended;
});

test('several worker processes serve summed metrics on one port, and no counter falls when one is killed', {
  timeout: AFTER_A_KILL_MS,
}, async () => {
  const { workplace, site } = await openFleet({ pages: 60 });
  const slots = ['--worker-concurrency', '4'];
  const supervisor = workplace.start(['work', '--processes', '2', ...WORK, ...slots]);
  const url = await urlOf(supervisor);
  const slotsNow = async () => (await scrape(url)).samples.get('trawl_slots');
  await expect.poll(slotsNow).toBe(8);
  expect(supervisor.said.match(/serving metrics/g)).toHaveLength(1);
  await workplace.json(['produce', site.url('/sitemap.xml'), '--wait', ...AT_FULL_SPEED]);
  const before = await scrape(url);
  expect(await promtool.checkMetrics(before.text)).toBe('');
  expect(before.samples.get(DONE)).toBe(60);
  expect(before.samples.get('trawl_build_info{version="0.1.0"}'), 'not summed').toBe(1);
  const started = supervisor.said.split('\n').filter((line) => line.includes('a worker process started'));
  process.kill(JSON.parse(started[0] ?? '{}').workerPid, 'SIGKILL');
  await supervisor.says(/will be restarted/);
  const after = await scrape(url);
  expect(after.samples.get('trawl_slots')).toBe(4);
  expect(after.samples.get(DONE)).toBe(60);
  await expect.poll(slotsNow).toBe(8);
  const back = [...before.samples].filter(
    ([name, value]) => /^trawl_.*(?:_total|_count|_bucket)\b/.test(name) && (after.samples.get(name) ?? -1) < value,
  );
  expect(back).toEqual([]);
  supervisor.signal('SIGTERM');
  expect((await supervisor.ended).code).toBe(0);
});
