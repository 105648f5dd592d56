import { expect, test } from 'vitest';
import { FleetMetrics } from '../../../../shared/metrics/fleet-metrics.ts';
import { samplesOf } from '../../../support/metrics/exposition.ts';
import { BUSY_FLEET } from '../../../support/metrics/fleet-readings.ts';

test('everything known about a fleet is exported under these names', async () => {
  const text = await new FleetMetrics({ read: async () => BUSY_FLEET }).text();
  // biome-ignore format: a table
  expect(Object.fromEntries(samplesOf(text))).toEqual({
    'trawl_tasks{state="waiting"}': 10,
    'trawl_tasks{state="in_flight"}': 20,
    'trawl_tasks{state="done"}': 30,
    'trawl_tasks{state="skipped"}': 40,
    'trawl_tasks{state="failed"}': 50,
    'trawl_tasks{state="cancelled"}': 60,
    'trawl_runs{state="running"}': 2,
    'trawl_runs{state="paused"}': 1,
    'trawl_runs{state="cancelled"}': 3,
    'trawl_runs{state="finished"}': 4,
    'trawl_hosts{state="due"}': 8,
    'trawl_hosts{state="paused"}': 11,
    'trawl_hosts{state="paused_by_hand"}': 12,
    'trawl_hosts{state="unreachable"}': 13,
    'trawl_workers{state="consuming"}': 2,
    'trawl_workers{state="waiting"}': 1,
    'trawl_workers{state="stopping"}': 1,
    'trawl_workers_wanted': 14,
    'trawl_workers_stuck': 1,
    'trawl_producers{state="open"}': 5,
    'trawl_producers{state="lost"}': 6,
    'trawl_queue_messages_ready{queue="priority"}': 15,
    'trawl_queue_messages_ready{queue="normal"}': 17,
    'trawl_queue_messages_ready{queue="failed"}': 19,
    'trawl_queue_consumers{queue="priority"}': 16,
    'trawl_queue_consumers{queue="normal"}': 18,
    'trawl_queue_consumers{queue="failed"}': 1,
    'trawl_oldest_dead_letter_age_seconds': 21,
    'trawl_oldest_due_age_seconds': 9.5,
    'trawl_last_settle_timestamp_seconds': 1_700_000_000.5,
    'trawl_redis_memory_bytes': 22,
    'trawl_redis_memory_limit_bytes': 23,
    'trawl_output_free_bytes': 24,
    'trawl_identity_gap': 7,
  });
});

test('values that could not be read are left out: 0 would suggest that all is well', async () => {
  const { workers, queues } = BUSY_FLEET;
  let reading: object = {};
  const metrics = new FleetMetrics({ read: async () => reading });
  expect(samplesOf(await metrics.text()).size).toBe(0);
  reading = { workers, queues };
  expect([...samplesOf(await metrics.text()).keys()]).toContain('trawl_workers_stuck');
  reading = { queues };
  expect([...samplesOf(await metrics.text()).keys()]).not.toContain('trawl_workers_stuck');
});
