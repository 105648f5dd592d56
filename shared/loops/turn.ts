import type { LRUCache } from 'lru-cache';
import { RequestTimings } from '../ports/fetcher.ts';
import { type HostGate, type HostLimit, slotToleranceMs } from '../ports/host-gate.ts';

/** A request that has its slot. `holder` names it at the gate. */
export interface SlotHolder {
  readonly host: string;
  readonly holder: string;
  readonly limit: HostLimit;
}

/** Hosts that close the connection after each answer. */
type ClosingHosts = Pick<LRUCache<string, true>, 'has' | 'set'>;

interface TurnOptions {
  /** How long ago its slot was when the turn began; default: 0. */
  readonly lateMs?: number;
  /** The place is being left: a question that is put to the gate from now on finds it free. */
  readonly onLeave?: () => void;
}

/** How a request went. */
interface RequestResult {
  readonly isFailure?: boolean;
  /** When its answer began, as `performance.now()` shows it, if the rest says nothing of the host's pace. */
  readonly answeredAt?: number | undefined;
}

/**
 * The turn of one request, which begins at once.
 *
 * It is sent some time after its slot: it may have to connect first, and in a busy process the event loop is late. The next one may be
 * sent in time, and the two would follow each other too closely. So the gate hears about a request that is sent well after its slot, unless
 * the host closes its connections: then the next one is as late.
 */
export class Turn {
  readonly timings = new RequestTimings(() => this.#onSent());
  readonly #gate: HostGate;
  readonly #slot: SlotHolder;
  readonly #closing: ClosingHosts;
  readonly #lateMs: number;
  readonly #onLeave: TurnOptions['onLeave'];
  readonly #began = performance.now();

  constructor(gate: HostGate, slot: SlotHolder, closing: ClosingHosts, { lateMs = 0, onLeave }: TurnOptions = {}) {
    this.#gate = gate;
    this.#slot = slot;
    this.#closing = closing;
    this.#lateMs = lateMs;
    this.#onLeave = onLeave;
  }

  /** The request is over: leaves its place. What it waited for this process says nothing of the host's pace. */
  async over({ isFailure = false, answeredAt = performance.now() }: RequestResult = {}): Promise<void> {
    const { host, limit, holder } = this.#slot;
    const { waitedMs, isClosing } = this.timings;
    if (isClosing) this.#closing.set(host, true);
    const leaving = this.#gate.leave(host, limit, holder, {
      durationMs: answeredAt - waitedMs - this.#began,
      isFailure,
    });
    this.#onLeave?.();
    await leaving;
  }

  #onSent(): void {
    const { host, limit } = this.#slot;
    const { intervalMs } = limit;
    const lateMs = this.#lateMs + performance.now() - this.#began;
    const isLate = intervalMs > 0 && lateMs > slotToleranceMs(intervalMs);
    // If that fails, the next request comes sooner after this one: slots are as far apart as ever.
    if (isLate && !this.#closing.has(host)) void this.#gate.sentLate(host, limit).catch(() => {});
  }
}
