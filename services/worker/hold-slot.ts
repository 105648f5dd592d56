import {
  type Grant,
  type HostGate,
  type HostLimit,
  MAX_HOLD_MS,
  slotToleranceMs,
} from '../../shared/ports/host-gate.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import type { PlaceLine } from './place-line.ts';

/** An answer that takes longer makes its slot too old to be used: others have had theirs since. */
const SLOWEST_ANSWER_MS = 100;

/** `go`: the host may be asked now. Otherwise it is no use to come back sooner than in `inMs`. */
export type Held = { readonly go: true } | { readonly go: false; readonly inMs: number };

interface HoldSlotOptions {
  readonly gate: HostGate;
  readonly clock: Clock;
  /** Of this process' requests. */
  readonly line: PlaceLine;
  readonly limit: HostLimit;
  /** How much longer the host is paused, as admission saw it; nothing if admission was asked about another host. */
  readonly pausedMs: number | undefined;
  readonly signal: AbortSignal;
}

/**
 * Asks the gate for a host's next slot and waits for it, at most {@link MAX_HOLD_MS} in all. A slot that was reached too
 * late, or whose host was paused meanwhile, is let go, and another asked for. Who may not go keeps no place at the host.
 */
export async function holdSlot(host: string, holder: string, options: HoldSlotOptions): Promise<Held> {
  const { gate, limit, pausedMs } = options;
  // Nothing to ask for: admission has just said that the host isn't paused.
  if (limit.intervalMs === 0 && limit.concurrency === 0 && pausedMs === 0) return { go: true };
  let hasPlace = false;
  try {
    const held = await waitForSlot(host, options, async () => {
      const grant = await gate.ask(host, limit, holder);
      hasPlace ||= grant.granted;
      return grant;
    });
    if (held.go) hasPlace = false;
    return held;
  } finally {
    // If that fails, it is free again when its lease ends.
    if (hasPlace) await gate.leave(host, limit, holder).catch(() => {});
  }
}

interface Answer {
  readonly grant: Grant;
  readonly asked: number;
  readonly answered: number;
}

/** Asks the gate. While all places of the host are taken, it asks once after another, behind those who came first. */
async function askInTurn(
  host: string,
  { clock, line, signal }: HoldSlotOptions,
  until: number,
  ask: () => Promise<Grant>,
): Promise<Answer> {
  const askOnce = async (): Promise<Answer> => {
    const asked = clock.now();
    const grant = await ask();
    return { grant, asked, answered: clock.now() };
  };
  const first = line.has(host) ? undefined : await askOnce();
  if (first !== undefined && first.grant.because !== 'concurrency') return first;
  const answer = await line.inTurn(host, until - clock.now(), signal, async (hasWaited) => {
    for (let last = hasWaited ? undefined : first; ; last = await askOnce()) {
      last ??= await askOnce();
      const { grant, answered } = last;
      const mayWait = grant.because === 'concurrency' && answered + grant.inMs <= until;
      if (!mayWait || signal.aborted) return last;
      await clock.sleep(grant.inMs, signal);
    }
  });
  const now = clock.now();
  return answer ?? { grant: { granted: false, inMs: 0, because: 'concurrency' }, asked: now, answered: now };
}

async function waitForSlot(host: string, options: HoldSlotOptions, ask: () => Promise<Grant>): Promise<Held> {
  const { gate, clock, limit, signal } = options;
  const until = clock.now() + MAX_HOLD_MS;
  for (;;) {
    const { grant, asked, answered } = await askInTurn(host, options, until, ask);
    if (!grant.granted) return { go: false, inMs: grant.inMs };
    const isFresh = limit.intervalMs === 0 || answered - asked <= SLOWEST_ANSWER_MS;
    if (isFresh && grant.inMs === 0) return { go: true };
    if (isFresh) {
      await clock.sleep(grant.inMs, signal);
      const reached = clock.now();
      const isInTime = !signal.aborted && reached - answered - grant.inMs <= slotToleranceMs(limit.intervalMs);
      if (isInTime && (await gate.stillOpen(host)) && clock.now() - reached <= SLOWEST_ANSWER_MS) {
        // Each of the three delays may be short, and their sum longer than an interval.
        const latestMs = Math.max(limit.intervalMs, SLOWEST_ANSWER_MS);
        if (clock.now() - asked - grant.inMs <= latestMs) return { go: true };
      }
    }
    if (signal.aborted || clock.now() > until) return { go: false, inMs: 0 };
  }
}
