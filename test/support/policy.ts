import type { FrontierPolicy } from '../../shared/stores/policy.ts';

/** The policy of frontiers in tests. */
export const POLICY: FrontierPolicy = {
  hostConcurrency: 2,
  giveUpMs: 600_000,
  priorityTtlMs: 1_800_000,
  normalTtlMs: 3_600_000,
};
