import { LRUCache } from 'lru-cache';
import {
  type Grant,
  type HostGate,
  LONGEST_SLOT_WAIT_MS,
  MAX_SLOT_WAIT_MS,
  slotToleranceMs,
} from '../ports/host-gate.ts';
import type { Observer, StageObserver } from '../ports/observer.ts';
import type { Clock } from '../runtime/clock.ts';
import { MINUTE_MS } from '../task/durations.ts';
import { PlaceLine } from './place-line.ts';
import { type SlotHolder, Turn } from './turn.ts';

/** The slot of a slower answer is too old to be used: others have had theirs since. */
const SLOWEST_ANSWER_MS = 100;
/** How often a long pause is checked, so that its end is seen soon. */
const MAX_NAP_MS = 2_000;
/** A longer wait is reported. No Crawl-delay that is honoured is longer. */
const LONG_WAIT_MS = MINUTE_MS;

/** `go`: the host may be asked now. Otherwise: come back in `inMs`, not sooner. */
export type SlotResult = { readonly go: true; readonly turn: Turn } | { readonly go: false; readonly inMs: number };

/** Hosts remembered as closing their connections. */
const MOST_CLOSING = 10_000;

/** Places at one host. */
interface HeldPlaces {
  count: number;
  /** How many were left so far. */
  left: number;
}

interface SlotWaitOptions {
  readonly gate: HostGate;
  readonly clock: Clock;
  /** Is shown how long slots are waited for. */
  readonly observer?: (Pick<Observer, 'gateWaited'> & StageObserver) | undefined;
  /** A request begins (1) to wait for a place, or ends (-1). */
  readonly onLine?: (by: 1 | -1) => void;
}

/** One request that needs a slot. */
interface SlotRequest extends SlotHolder {
  readonly signal: AbortSignal;
  /** Told once by {@link SlotWait.acquire} if the host may not be asked for more than a minute. */
  readonly onLongWait?: ((ms: number) => void) | undefined;
}

interface AdmittedSlotRequest extends SlotRequest {
  /** See {@link HostGate.ask}. */
  readonly longestWaitMs?: number;
  /** How much longer the host is paused, as admission saw it. Left out if admission asked about another host, or long ago. */
  readonly pausedMs?: number | undefined;
  /** An earlier delivery, whose worker died over it, may have left the request its place at the host. */
  readonly isTakenOver?: boolean;
}

/** By both clocks: only one sees a machine sleep, and only the other is never set. */
interface Moment {
  readonly time: number;
  readonly monotonic: number;
}

interface Answer {
  readonly grant: Grant;
  readonly asked: Moment;
  readonly answered: Moment;
  /** A request of this process has left the host meanwhile. */
  readonly isOutdated?: boolean;
}

/** A request that asks for its slot. */
interface Asking extends AdmittedSlotRequest {
  hasPlace: boolean;
}

/**
 * Waits for slots that the gate grants. A slot that was reached too late, whose grant took long to arrive, or whose host was
 * paused meanwhile is given up, and another one asked for. A request that may not go keeps no place at the host.
 */
export class SlotWait {
  readonly #gate: HostGate;
  readonly #clock: Clock;
  readonly #line: PlaceLine;
  readonly #observer: SlotWaitOptions['observer'];
  readonly #closing = new LRUCache<string, true>({ max: MOST_CLOSING });
  /** The places that this process' requests have, by host. */
  readonly #held = new Map<string, HeldPlaces>();

  constructor({ gate, clock, observer, onLine }: SlotWaitOptions) {
    this.#gate = gate;
    this.#clock = clock;
    this.#observer = observer;
    this.#line = new PlaceLine(clock, onLine);
  }

  /** Waits at most {@link MAX_SLOT_WAIT_MS} in all: whatever takes longer belongs to the frontier. */
  async tryAcquire(request: AdmittedSlotRequest): Promise<SlotResult> {
    const observer = this.#observer;
    if (observer === undefined) return await this.#tryOnce(request);
    const began = performance.now();
    observer.entered('gate');
    try {
      return await this.#tryOnce(request);
    } finally {
      observer.left('gate');
      observer.gateWaited(performance.now() - began);
    }
  }

  async #tryOnce(request: AdmittedSlotRequest): Promise<SlotResult> {
    const { host, holder, limit, pausedMs } = request;
    // Nothing to ask for: admission has just said that the host isn't paused.
    if (limit.intervalMs === 0 && limit.concurrency === 0 && pausedMs === 0) return this.#turnOf(request);
    const asking: Asking = { ...request, hasPlace: false };
    try {
      const result = await this.#reach(asking);
      if (result.go) asking.hasPlace = false;
      return result;
    } finally {
      // If that fails, it is free again when its lease ends.
      const leaving = asking.hasPlace ? this.#gate.leave(host, limit, holder).catch(() => {}) : undefined;
      if (asking.hasPlace) this.#left(request);
      await leaving;
    }
  }

  /**
   * Waits however long it takes, outside of a worker's slots. Rejects with the signal's reason once that is aborted.
   *
   * The host's next slot is left to others, if they ask for it in time; the one after that is reserved. So it alternates with pages, which
   * ask just before each slot comes, and would else take every one.
   */
  async acquire(request: SlotRequest): Promise<Turn> {
    const { signal } = request;
    let { onLongWait } = request;
    for (let hasWaited = false; ; ) {
      signal.throwIfAborted();
      const result = await this.tryAcquire(hasWaited ? { ...request, longestWaitMs: LONGEST_SLOT_WAIT_MS } : request);
      if (result.go) return result.turn;
      if (result.inMs > LONG_WAIT_MS) {
        onLongWait?.(result.inMs);
        onLongWait = undefined;
      }
      await this.#clock.sleep(Math.min(result.inMs, MAX_NAP_MS), signal);
      hasWaited = result.inMs <= MAX_NAP_MS;
    }
  }

  async #reach(request: Asking): Promise<SlotResult> {
    const { host, limit, signal } = request;
    const clock = this.#clock;
    const until = clock.monotonic() + MAX_SLOT_WAIT_MS;
    for (;;) {
      const { grant, asked, answered } = await this.#askInTurn(request, until);
      if (!grant.granted) return { go: false, inMs: grant.inMs };
      const tookMs = passed(asked, answered);
      const isFresh = limit.intervalMs === 0 || tookMs <= SLOWEST_ANSWER_MS;
      if (isFresh && grant.inMs === 0) return this.#turnOf(request, tookMs);
      if (isFresh) {
        await clock.sleep(grant.inMs, signal);
        const reached = this.#moment();
        const waitedMs = passed(answered, reached);
        const isInTime = !signal.aborted && waitedMs - grant.inMs <= slotToleranceMs(limit.intervalMs);
        if (isInTime && (await this.#gate.stillOpen(host)) && this.#since(reached) <= SLOWEST_ANSWER_MS) {
          // Each of the three delays may be short, and their sum still longer than an interval.
          const latestMs = Math.max(limit.intervalMs, SLOWEST_ANSWER_MS);
          const lateMs = this.#since(asked) - grant.inMs;
          if (lateMs <= latestMs) return this.#turnOf(request, lateMs);
        }
      }
      if (signal.aborted || clock.monotonic() > until) return { go: false, inMs: 0 };
    }
  }

  #moment(): Moment {
    return { time: this.#clock.now(), monotonic: this.#clock.monotonic() };
  }

  #since(moment: Moment): number {
    return passed(moment, this.#moment());
  }

  #turnOf(request: SlotRequest, lateMs = 0): SlotResult {
    const onLeave = (): void => this.#left(request);
    return { go: true, turn: new Turn(this.#gate, request, this.#closing, { lateMs, onLeave }) };
  }

  #taken({ host, limit }: SlotRequest): void {
    if (limit.concurrency === 0) return;
    const held = this.#held.get(host) ?? { count: 0, left: 0 };
    // One more is granted where the lease of one ended that never left.
    held.count = Math.min(held.count + 1, limit.concurrency);
    this.#held.set(host, held);
  }

  #hasAll({ host, limit }: SlotRequest): boolean {
    return limit.concurrency > 0 && (this.#held.get(host)?.count ?? 0) >= limit.concurrency;
  }

  #left({ host, limit }: SlotRequest): void {
    const held = this.#held.get(host);
    if (limit.concurrency === 0 || held === undefined) return;
    held.count--;
    held.left++;
    if (held.count === 0) this.#held.delete(host);
    this.#line.left(host);
  }

  async #ask(request: Asking): Promise<Answer> {
    const { host, limit, holder, longestWaitMs } = request;
    const held = this.#held.get(host);
    const [before, asked] = [held?.left, this.#moment()];
    const grant = await this.#gate.ask(host, limit, holder, longestWaitMs);
    const answered = this.#moment();
    if (grant.granted && !request.hasPlace) {
      request.hasPlace = true;
      this.#taken(request);
    }
    return { grant, asked, answered, isOutdated: held?.left !== before };
  }

  /**
   * Asks the gate. While all places at the host are taken, it asks again and again, behind the requests that came first. While this
   * process has all of them itself, it waits for one of its own to leave.
   */
  async #askInTurn(request: Asking, until: number): Promise<Answer> {
    const { host, signal } = request;
    const clock = this.#clock;
    const line = this.#line;
    // One that has its place, and lost its slot, waits for nobody: those in line wait for it.
    if (request.hasPlace) return await this.#ask(request);
    // Nor does one that has it from a worker that died: behind others it could be put back, and leave the place to nobody.
    const inherited = request.isTakenOver === true && line.has(host) ? await this.#ask(request) : undefined;
    if (inherited?.grant.granted === true) return inherited;
    // Asked even while this process has all places: a slow host isn't waited for here.
    const first = line.has(host) ? undefined : await this.#ask(request);
    if (first !== undefined && first.grant.because !== 'concurrency') return first;
    const answer = await line.inTurn(host, until - clock.monotonic(), signal, async (hasWaited) => {
      for (let last = hasWaited ? undefined : first; ; last = undefined) {
        if (last === undefined && this.#hasAll(request)) await line.untilLeft(host, until - clock.monotonic(), signal);
        last ??= await this.#ask(request);
        const { grant, answered, isOutdated } = last;
        const mayWait = grant.because === 'concurrency' && answered.monotonic + grant.inMs <= until;
        if (!mayWait || signal.aborted) return last;
        if (!isOutdated) await line.untilLeft(host, grant.inMs, signal);
      }
    });
    const now = this.#moment();
    return answer ?? { grant: { granted: false, inMs: 0, because: 'concurrency' }, asked: now, answered: now };
  }
}

/** A slot that either clock calls late is late. */
function passed(from: Moment, to: Moment): number {
  return Math.max(to.time - from.time, to.monotonic - from.monotonic);
}
