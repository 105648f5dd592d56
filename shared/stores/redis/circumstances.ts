import type { HostCircumstances } from '../../ports/host-overview.ts';
import type { PaceReason } from '../../task/host/host-pace.ts';

/** How many values `circumstances_of` in `host_pace.lua` returns. */
export const CIRCUMSTANCES = 8;

/** Reads the values of `circumstances_of`. */
export function readCircumstances(values: readonly (string | number | undefined)[]): HostCircumstances {
  const [intervalMs, because, responseMs, slowReason, pausedMs, reason, byHand, isUnreachable] = values.map(String);
  return {
    intervalMs: Number(intervalMs),
    because: because as PaceReason,
    ...(responseMs ? { responseMs: Math.round(Number(responseMs)) } : {}),
    ...(slowReason ? { slowReason } : {}),
    pausedMs: Number(pausedMs),
    reason: reason ?? '',
    byHand: byHand === '1',
    isUnreachable: isUnreachable === '1',
  };
}
