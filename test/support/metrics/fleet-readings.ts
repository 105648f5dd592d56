import type { FleetReading } from '../../../shared/control/fleet-reading.ts';

/** A fleet reading in which every value is known and no number is 0. */
export const BUSY_FLEET: FleetReading = {
  runs: {
    byState: { running: 2, paused: 1, cancelled: 3, finished: 4 },
    tasks: { waiting: 10, inFlight: 20, done: 30, skipped: 40, failed: 50, cancelled: 60 },
    producers: { open: 5, lost: 6 },
    identityGap: 7,
    waitingHosts: [],
    unreadHosts: [],
  },
  hosts: { due: 8, oldestDueMs: 9_500, paused: 11, byHand: 12, unreachable: 13 },
  workers: {
    live: (['consuming', 'consuming', 'waiting: Redis', 'stopping'] as const).map((state, index) => ({
      ...{ id: `w-${index}`, host: 'machine', version: '1', slots: 4, inHand: 1, bound: 'cpu' as const, silentMs: 0 },
      state,
    })),
    stuck: 1,
    lastSettleAt: 1_700_000_000_500,
  },
  workersWanted: 14,
  queues: {
    priority: { ready: 15, consumers: 16 },
    normal: { ready: 17, consumers: 18 },
    failed: { ready: 19, consumers: 1 },
  },
  oldestLetterMs: 21_000,
  memory: { usedBytes: 22, limitBytes: 23 },
  freeBytes: 24,
};
