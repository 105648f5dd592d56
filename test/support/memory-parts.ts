import type { Clock } from '../../shared/runtime/clock.ts';
import { MemoryBiographer } from '../../shared/stores/memory/biographer.ts';
import { MemoryFrontier } from '../../shared/stores/memory/frontier.ts';
import { MemoryHostGate } from '../../shared/stores/memory/host-gate.ts';
import { MemoryHostOverview } from '../../shared/stores/memory/host-overview.ts';
import { MemoryHosts } from '../../shared/stores/memory/hosts.ts';
import { MemoryMarks } from '../../shared/stores/memory/marks.ts';
import { MemoryResponseCache } from '../../shared/stores/memory/response-cache.ts';
import { MemoryRobotsStore } from '../../shared/stores/memory/robots-store.ts';
import { MemoryRoster } from '../../shared/stores/memory/roster.ts';
import { MemoryRuns } from '../../shared/stores/memory/runs.ts';
import { MemoryStore } from '../../shared/stores/memory/store.ts';
import type { FrontierPolicy } from '../../shared/stores/policy.ts';
import { POLICY } from './policy.ts';

interface MemoryPartsOptions<C extends Clock> {
  readonly clock: C;
  readonly policy?: Partial<FrontierPolicy> | undefined;
  /** See {@link MemoryRuns}. */
  readonly incarnations?: () => string;
}

/** Every store of one process, over one memory, on one clock. */
export function openMemoryParts<C extends Clock>({ clock, policy, ...more }: MemoryPartsOptions<C>) {
  const politeness = new MemoryHosts();
  const store = new MemoryStore(politeness);
  return {
    clock,
    store,
    frontier: new MemoryFrontier({ store, policy: { ...POLICY, ...policy }, clock }),
    runs: new MemoryRuns({ store, clock, ...more }),
    gate: new MemoryHostGate({ hosts: politeness, clock }),
    hosts: new MemoryHostOverview({ store, clock }),
    marks: new MemoryMarks({ store }),
    biographer: new MemoryBiographer({ store, clock }),
    cache: new MemoryResponseCache({ clock, ttlMs: 60_000, maxBytes: 1_000_000 }),
    robots: new MemoryRobotsStore({ clock }),
    roster: new MemoryRoster({ clock }),
  };
}
