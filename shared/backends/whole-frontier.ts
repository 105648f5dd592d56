import type { AttemptHistory, Claims, Frontier, Ledger } from '../ports/frontier.ts';
import type { FullStore } from '../ports/full-store.ts';
import type { Groups } from '../ports/groups.ts';
import type { MissingSteps } from '../ports/missing-steps.ts';
import type { HandOvers, QueuedLeases } from '../ports/queued-leases.ts';

/** A frontier with all its abilities; only one in memory can be full. */
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
