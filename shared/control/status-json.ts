import type { LiveWorker } from '../ports/roster.ts';
import { type HostsOfFleet, hostsJson } from './hosts/fleet-hosts.ts';
import { incrementalJson } from './incremental.ts';
import type { RunList } from './run-list.ts';
import { runJson } from './run-troubles.ts';
import type { RunView } from './run-watcher.ts';
import { summaryJson } from './summary-json.ts';

/** The JSON of `status RUN`. */
export function runStatusJson(
  { progress, bottleneck }: RunView,
  workers: readonly LiveWorker[],
  fleet: HostsOfFleet,
): object {
  const { name, sentence, etaMs } = bottleneck;
  return {
    ...summaryJson(progress),
    crawler: progress.options.crawler,
    bottleneck: name === 'none' ? null : sentence,
    etaSeconds: etaMs === undefined ? null : Math.round(etaMs / 1_000),
    workers: workers.length,
    ...incrementalJson(progress.options),
    ...runJson(progress),
    ...hostsJson(fleet),
  };
}

/** The JSON of `status`. */
export function fleetStatusJson({ views, counts, workers }: RunList, fleet: HostsOfFleet): object {
  return {
    known: counts.known,
    open: counts.open,
    runs: views.map(({ progress }) => ({ ...summaryJson(progress), ...runJson(progress) })),
    ...hostsJson(fleet),
    // Tasks in hand are left out: that list is long, and `trawl workers` has it.
    workers: workers.map(({ tasks: _, ...worker }) => worker),
  };
}
