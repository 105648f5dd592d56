import { Gauge, Registry } from 'prom-client';
import { type FleetReader, type FleetReading, TASK_COUNTERS } from '../control/fleet-reading.ts';
import type { QueueDepths } from '../ports/transport.ts';
import { SECOND_MS } from '../task/durations.ts';

const WORKER_STATES = ['consuming', 'waiting', 'stopping'] as const;

type Values = readonly (readonly [labels: Readonly<Record<string, string>>, value: number])[];

/** One metric: its name, its label if it has one, its help, and a function that returns its values, undefined if they are unknown. */
type Row = readonly [
  name: string,
  label: string | undefined,
  help: string,
  values: (fleet: FleetReading) => Values | undefined,
];

// biome-ignore format: a table
const ROWS: readonly Row[] = [
  ['trawl_tasks', 'state', 'Tasks of the runs that have not ended.', ({ runs }) =>
    runs && TASK_COUNTERS.map((name) => [{ state: name === 'inFlight' ? 'in_flight' : name }, runs.tasks[name]])],
  ['trawl_runs', 'state', 'Runs that have not ended, and the newest of the others.', ({ runs }) =>
    runs && byState(runs.byState)],
  ['trawl_hosts', 'state', 'Hosts that may be asked now, and paused hosts by the kind of pause.', ({ hosts }) =>
    hosts && byState({ due: hosts.due, paused: hosts.paused, paused_by_hand: hosts.byHand, unreachable: hosts.unreachable })],
  ['trawl_workers', 'state', 'Live workers.', ({ workers }) =>
    workers && WORKER_STATES.map((state) => [{ state }, workers.live.filter((worker) => worker.state.startsWith(state)).length])],
  ['trawl_workers_wanted', undefined, 'Workers that the waiting hosts can keep busy.', ({ workersWanted }) => one(workersWanted)],
  ['trawl_workers_stuck', undefined, 'Workers with tasks in hand that have settled none for too long.', ({ workers }) =>
    one(workers?.stuck)],
  ['trawl_producers', 'state', 'Producers of the runs that have not ended.', ({ runs }) => runs && byState(runs.producers)],
  ['trawl_queue_messages_ready', 'queue', 'Messages waiting in a queue.', ({ queues }) => queues && ofQueues(queues, 'ready')],
  ['trawl_queue_consumers', 'queue', 'Consumers of a queue.', ({ queues }) => queues && ofQueues(queues, 'consumers')],
  ['trawl_oldest_dead_letter_age_seconds', undefined, 'Age of the oldest dead letter; 0 if there is none.', ({ oldestLetterMs }) =>
    one(seconds(oldestLetterMs))],
  ['trawl_oldest_due_age_seconds', undefined, 'How long the longest-waiting host has been due.', ({ hosts }) =>
    one(seconds(hosts?.oldestDueMs))],
  ['trawl_last_settle_timestamp_seconds', undefined, 'When a worker last settled a task; before the first, when this process started.', ({ workers }) =>
    one(seconds(workers?.lastSettleAt))],
  ['trawl_redis_memory_bytes', undefined, 'Memory that Redis uses.', ({ memory }) => one(memory?.usedBytes)],
  ['trawl_redis_memory_limit_bytes', undefined, 'Memory limit of Redis; 0 for no limit.', ({ memory }) => one(memory?.limitBytes)],
  ['trawl_output_free_bytes', undefined, 'Free disk space for records.', ({ freeBytes }) => one(freeBytes)],
  ['trawl_identity_gap', undefined, 'Tasks that the counters of open runs have lost, or counted twice.', ({ runs }) =>
    one(runs?.identityGap)],
];

/**
 * The metrics of a fleet as a whole. Only one process of a fleet exports them: exported by several, everything would be summed several
 * times. Values that could not be read are left out, so that alerts see them as missing and not as 0.
 */
export class FleetMetrics {
  readonly #reader: Pick<FleetReader, 'read'>;

  constructor(reader: Pick<FleetReader, 'read'>) {
    this.#reader = reader;
  }

  /** Returns the metrics in the Prometheus text format. Never rejects. */
  async text(): Promise<string> {
    const fleet = await this.#reader.read();
    // A new registry each time: a gauge without labels would report 0 for an unknown value.
    const registry = new Registry();
    for (const [name, label, help, values] of ROWS) {
      const known = values(fleet);
      if (known === undefined) continue;
      const gauge = new Gauge({ name, help, labelNames: label === undefined ? [] : [label], registers: [registry] });
      for (const [labels, value] of known) gauge.set({ ...labels }, value);
    }
    return await registry.metrics();
  }
}

function one(value: number | undefined): Values | undefined {
  return value === undefined ? undefined : [[{}, value]];
}

function seconds(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : ms / SECOND_MS;
}

function byState(values: Readonly<Record<string, number>>): Values {
  return Object.entries(values).map(([state, value]) => [{ state }, value]);
}

function ofQueues(queues: QueueDepths, what: 'ready' | 'consumers'): Values {
  return Object.entries(queues).map(([queue, depth]) => [{ queue }, depth[what]]);
}
