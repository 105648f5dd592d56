import type { RunState } from '../../../../ports/runs.ts';
import type { TroubleKind } from '../../../../task/host/host-trouble.ts';
import { RowMemory } from '../../database/row-cache.ts';
import type { HostRow } from './host-rows.ts';
import type { TaskRow } from './task-rows.ts';

export type RunRow = {
  readonly n: number;
  readonly id: string;
  readonly incarnation: string;
  /** {@link RunOptions} in JSON. */
  readonly options: string;
  state: RunState;
  pauseReason: string;
  startedAt: number;
  endedAt: number | null;
  opened: number | null;
  lookAt: number | null;
  /** 1 once a worker has admitted a task of the run. */
  touched: number;
  completed: number;
  releases: number;
  discovered: number;
  duplicate: number;
  leftOutDepth: number;
  leftOutScope: number;
  leftOutMaxPages: number;
  leftOutLimit: number;
  leftOutCondition: number;
  waiting: number;
  inFlight: number;
  done: number;
  skipped: number;
  failed: number;
  cancelled: number;
  bytes: number;
  bytesSaved: number;
  session: number;
  knownOfSeeds: number;
  generation: number | null;
  /** Time for which hosts with nothing but errors are waited for, as of the last look at one; null before. */
  giveUpMs: number | null;
  hostsDown: number;
  /** {@link HostsDown.named} in JSON. */
  namedDown: string;
  /** Number of joins that were made. */
  joins: number;
  /** 1 if the run's own joins are to be made once nothing else is left; `joinsLayer` is the last layer of them that was made. */
  joinsDue: number;
  joinsLayer: number;
  openGroups: number;
  /** Tasks of groups that were crawled once more, which `max-pages` and `limit` have counted before. */
  anew: number;
};

export type RunHostRow = {
  readonly run: number;
  readonly host: string;
  readyAt: number | null;
  waiting: number;
  /** 1 once it has answered this run, healthily or not. */
  hasAnswered: number;
  /** Its first and last error since its last healthy answer, and what they are. */
  troubleSince: number | null;
  troubleLast: number | null;
  troubleKind: TroubleKind | null;
  troubleReason: string | null;
  /** Its first failure without an answer, if it never answered. */
  silentSince: number | null;
  /** 1 once it was given up. */
  isDown: number;
};

/** Rows that are remembered from one transaction to the next. */
export class RowMemories {
  readonly runs = new RowMemory<RunRow>();
  readonly hosts = new RowMemory<HostRow>();
  readonly runHosts = new RowMemory<RunHostRow>();
  /** Tasks in flight. */
  readonly flights = new RowMemory<TaskRow>();

  clear(): void {
    this.runs.clear();
    this.hosts.clear();
    this.runHosts.clear();
    this.flights.clear();
  }
}
