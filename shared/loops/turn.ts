import type { LRUCache } from 'lru-cache';
import { RequestTimings } from '../ports/fetcher.ts';
import { type HostGate, type HostLimit, slotToleranceMs } from '../ports/host-gate.ts';
import type { Sending } from './host-sends.ts';

/** A request that has its slot. `holder` names it at the gate. */
export interface SlotHolder {
  readonly host: string;
  readonly holder: string;
  readonly limit: HostLimit;
}

/** Hosts that close the connection after each answer. */
type ClosingHosts = Pick<LRUCache<string, true>, 'has' | 'set'>;

interface TurnOptions {
  /** How late the turn began after its slot; default: 0. */
  readonly lateMs?: number;
  /** Called when the place is being left: any question to the gate from now on finds it free. */
  readonly onLeave?: () => void;
  readonly sending?: Sending;
}

/** How a request ended. */
interface RequestResult {
  readonly isFailure?: boolean;
  /** When its answer began, by `performance.now()`. Given if the time after that says nothing about the host's pace. */
  readonly answeredAt?: number | undefined;
}

/**
 * The turn of one request at its host. It begins when this object is made.
 *
 * A request is sent some time after its slot: it may have to connect first, and in a busy process the event loop lags. If the next request
 * is sent on time, the two follow each other too closely. So the gate is told when a request is sent well after its slot. Hosts that
 * close their connections are excepted: there, the next request has to connect too and is just as late.
 */
export class Turn {
  readonly timings = new RequestTimings(() => this.#onSent());
  readonly #gate: HostGate;
  readonly #slot: SlotHolder;
  readonly #closing: ClosingHosts;
  readonly #lateMs: number;
  readonly #onLeave: TurnOptions['onLeave'];
  readonly #sending: Sending | undefined;
  readonly #began = performance.now();

  constructor(
    gate: HostGate,
    slot: SlotHolder,
    closing: ClosingHosts,
    { lateMs = 0, onLeave, sending }: TurnOptions = {},
  ) {
    this.#gate = gate;
    this.#slot = slot;
    this.#closing = closing;
    this.#lateMs = lateMs;
    this.#onLeave = onLeave;
    this.#sending = sending;
  }

  /** Ends the request and leaves its place. Time that it waited for this process doesn't count towards the host's response time. */
  async over({ isFailure = false, answeredAt = performance.now() }: RequestResult = {}): Promise<void> {
    const { host, limit, holder } = this.#slot;
    const { waitedMs, isClosing } = this.timings;
    if (isClosing) this.#closing.set(host, true);
    const leaving = this.#gate.leave(host, limit, holder, {
      durationMs: answeredAt - waitedMs - this.#began,
      isFailure,
    });
    this.#onLeave?.();
    this.#sending?.over();
    await leaving;
  }

  #onSent(): void {
    const { host, limit } = this.#slot;
    const { intervalMs } = limit;
    const lateMs = this.#lateMs + performance.now() - this.#began;
    const isLate = intervalMs > 0 && lateMs > slotToleranceMs(intervalMs) && !this.#closing.has(host);
    this.#sending?.sent(isLate);
    // If that fails, the next request follows this one more closely; the slots are still the full interval apart.
    if (isLate) void this.#gate.sentLate(host, limit).catch(() => {});
  }
}
