import type { RunState } from '../../../ports/runs.ts';
import { RowMemory } from '../database/row-cache.ts';
import type { HostRow } from './host-rows.ts';

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
  /** 1 once a worker has admitted a task of it. */
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
};

export type RunHostRow = {
  readonly run: number;
  readonly host: string;
  readyAt: number | null;
  waiting: number;
  troubleSince: number | null;
  troubleLast: number | null;
};

/** What is remembered from one transaction to the next. */
export class RowMemories {
  readonly runs = new RowMemory<RunRow>();
  readonly hosts = new RowMemory<HostRow>();
  readonly runHosts = new RowMemory<RunHostRow>();

  clear(): void {
    this.runs.clear();
    this.hosts.clear();
    this.runHosts.clear();
  }
}
