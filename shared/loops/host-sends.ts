import { LRUCache } from 'lru-cache';
import { afterLateMs, MAX_SLOT_WAIT_MS } from '../ports/host-gate.ts';
import type { Clock } from '../runtime/clock.ts';

/** Hosts with a shorter interval are asked several times a second anyway, and their next slot is granted before a request is sent. */
const LEAST_INTERVAL_MS = 2 * MAX_SLOT_WAIT_MS;
/** For so many intervals, the next request waits for one that isn't sent yet. A host that lets nobody connect blocks no other request. */
const UNSENT_INTERVALS = 2;
/** Maximum hosts remembered as having been asked late. */
const MOST_LATE = 10_000;

/** A request that has its slot. */
export interface Sending {
  /** It was written to a connection, well after its slot or not. */
  sent(isLate: boolean): void;
  /** It ended. */
  over(): void;
}

/**
 * The requests that this process is sending, by host. In a process short of CPU, a request can be sent so long after its slot that the
 * next slot has already been granted, or has even come. The next request is then sent right after this one, or together with it, unless it
 * gives up its slot: the gate can only move slots that it has yet to grant.
 */
export class HostSends {
  readonly #clock: Pick<Clock, 'monotonic'>;
  /** When the latest request of a host began, if it isn't sent yet. */
  readonly #unsent = new Map<string, { readonly beganAt: number }>();
  /** When a host's latest request was sent, if that was late. */
  readonly #late = new LRUCache<string, number>({ max: MOST_LATE });

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** Notes that a request uses its slot. */
  begin(host: string): Sending {
    const request = { beganAt: this.#clock.monotonic() };
    this.#unsent.set(host, request);
    const over = (): void => {
      if (this.#unsent.get(host) === request) this.#unsent.delete(host);
    };
    const sent = (isLate: boolean): void => {
      over();
      if (isLate) this.#late.set(host, this.#clock.monotonic());
    };
    return { sent, over };
  }

  /** Would a request sent to the host now follow the one before it too closely? */
  isTooSoon(host: string, intervalMs: number): boolean {
    if (intervalMs < LEAST_INTERVAL_MS) return false;
    const now = this.#clock.monotonic();
    const unsent = this.#unsent.get(host);
    if (unsent !== undefined && now - unsent.beganAt < UNSENT_INTERVALS * intervalMs) return true;
    const sentAt = this.#late.get(host);
    return sentAt !== undefined && now - sentAt < afterLateMs(intervalMs);
  }
}
