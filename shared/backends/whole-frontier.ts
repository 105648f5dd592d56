import type { AttemptHistory, Claims, Frontier, Ledger } from '../ports/frontier/frontier.ts';
import type { FullStore } from '../ports/frontier/full-store.ts';
import type { Groups } from '../ports/frontier/groups.ts';
import type { MissingSteps } from '../ports/frontier/missing-steps.ts';
import type { HandOvers, QueuedLeases } from '../ports/frontier/queued-leases.ts';

/** A frontier with all its optional abilities. Only one that keeps everything in memory can be full. */
export interface WholeFrontier
  extends Frontier,
    AttemptHistory,
    Claims,
    Partial<FullStore>,
    Groups,
    QueuedLeases,
    HandOvers,
    Ledger,
    MissingSteps {}
