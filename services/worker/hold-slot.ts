import type { Clock } from '../../shared/clock.ts';
import { type HostGate, type HostLimit, MAX_HOLD_MS, slotToleranceMs } from '../../shared/host-gate.ts';

/** An answer that takes longer makes its slot too old to be used: others have had theirs since. */
const SLOWEST_ANSWER_MS = 100;

/** `go`: the host may be asked now. Otherwise it is no use to come back sooner than in `inMs`. */
export type Held = { readonly go: true } | { readonly go: false; readonly inMs: number };

interface HoldSlotOptions {
  readonly gate: HostGate;
  readonly clock: Clock;
  readonly limit: HostLimit;
  /** How much longer the host is paused, as admission saw it; nothing if admission was asked about another host. */
  readonly pausedMs: number | undefined;
  readonly signal: AbortSignal;
}

/**
 * Asks the gate for a host's next slot and waits for it, at most {@link MAX_HOLD_MS} in all. A slot that was reached too
 * late, or whose host was paused meanwhile, is let go, and another asked for.
 */
export async function holdSlot(host: string, holder: string, options: HoldSlotOptions): Promise<Held> {
  const { gate, clock, limit, pausedMs, signal } = options;
  // Nothing to ask for: admission has just said that the host isn't paused.
  if (limit.intervalMs === 0 && limit.concurrency === 0 && pausedMs === 0) return { go: true };
  const until = clock.now() + MAX_HOLD_MS;
  for (;;) {
    const asked = clock.now();
    const grant = await gate.ask(host, limit, holder);
    const answered = clock.now();
    if (!grant.granted) {
      const mayWait = grant.because === 'concurrency' && answered + grant.inMs <= until;
      if (!mayWait || signal.aborted) return { go: false, inMs: grant.inMs };
      await clock.sleep(grant.inMs, signal);
      continue;
    }
    const isFresh = limit.intervalMs === 0 || answered - asked <= SLOWEST_ANSWER_MS;
    if (isFresh && grant.inMs === 0) return { go: true };
    if (isFresh) {
      await clock.sleep(grant.inMs, signal);
      const reached = clock.now();
      const isInTime = !signal.aborted && reached - answered - grant.inMs <= slotToleranceMs(limit.intervalMs);
      if (isInTime && (await gate.stillOpen(host)) && clock.now() - reached <= SLOWEST_ANSWER_MS) return { go: true };
    }
    if (signal.aborted || clock.now() > until) {
      await gate.leave(host, limit, holder);
      return { go: false, inMs: 0 };
    }
  }
}
