import type { LiveWorker } from '../../../../../shared/ports/roster.ts';
import type { HostLine } from '../../../../../shared/ports/run-overview.ts';
import { progressOf } from '../../../../support/builders.ts';

export const BUSY: LiveWorker = {
  id: 'w-1',
  host: 'h',
  version: '1',
  slots: 32,
  inHand: 32,
  bound: 'slots',
  state: 'consuming',
  silentMs: 100,
};
export const QUIET = { settledMsAgo: 20_000, unsettledMs: 0, stuckAfterMs: 60_000 };
export const IDLE: LiveWorker = { ...BUSY, inHand: 0, bound: 'politeness', progress: QUIET };
/** Ten workers, which do twenty pages a second each. */
export const FAST: readonly LiveWorker[] = Array.from({ length: 10 }, () => ({
  ...BUSY,
  inHand: 9,
  bound: 'politeness',
}));
export const SLOW_HOST: HostLine = {
  host: 'example.com',
  waiting: 4_812,
  intervalMs: 1_000,
  because: 'rate',
  pausedMs: 0,
  reason: '',
  byHand: false,
  isUnreachable: false,
};
/** The run was read at ten past twelve, local time. */
export const NOON = new Date(2026, 10, 24, 12, 10).getTime();
export const AT_NOON = progressOf({ discovered: 5_000, waiting: 4_812, inFlight: 3, done: 185, readAt: NOON });
export const PURGED = progressOf({ discovered: 60, inFlight: 60, readAt: 60_000 });
export const GIVE_UP_AT = NOON + 238_000;
export const LEFT = progressOf({ discovered: 5_000, waiting: 4_812, inFlight: 3, done: 185 });
export const OFFERED_NOTHING = progressOf({ producers: { open: 1, lost: 0, silent: [] } });
