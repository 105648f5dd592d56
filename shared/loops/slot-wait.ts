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
import { HostSends } from './host-sends.ts';
import { PlaceLine } from './place-line.ts';
import { type SlotHolder, Turn } from './turn.ts';

/** If the gate's answer takes longer than this, its slot is too old to use: others have had theirs since. */
const SLOWEST_ANSWER_MS = 100;
/** Longest sleep during a long pause, so that an early end of the pause is noticed soon. */
const MAX_NAP_MS = 2_000;
/** Waits longer than this are reported. No Crawl-delay that is honoured is longer. */
const LONG_WAIT_MS = MINUTE_MS;

/** `go`: the host may be asked now. Otherwise try again in `inMs`, not sooner. */
export type SlotResult = { readonly go: true; readonly turn: Turn } | { readonly go: false; readonly inMs: number };

/** Maximum hosts remembered as closing their connections. */
const MOST_CLOSING = 10_000;

/** The places that this process holds at one host. */
interface HeldPlaces {
  count: number;
  /** Number of places left again so far. */
  left: number;
}

interface SlotWaitOptions {
  readonly gate: HostGate;
  readonly clock: Clock;
  /** Gets the times spent waiting for slots. */
  readonly observer?: (Pick<Observer, 'gateWaited'> & StageObserver) | undefined;
  /** Called with 1 when a request begins to wait for a place, with -1 when it ends. */
  readonly onLine?: (by: 1 | -1) => void;
  /** Shared by all that ask the same hosts. Default: its own. */
  readonly sends?: HostSends;
}

/** One request that needs a slot. */
interface SlotRequest extends SlotHolder {
  readonly signal: AbortSignal;
  /** Called once by {@link SlotWait.acquire} if the host can't be asked for more than a minute. */
  readonly onLongWait?: ((ms: number) => void) | undefined;
}

interface AdmittedSlotRequest extends SlotRequest {
  /** See {@link HostGate.ask}. */
  readonly longestWaitMs?: number;
  /** Remaining pause of the host, as admission saw it. Left out if admission asked about another host, or too long ago. */
  readonly pausedMs?: number | undefined;
  /** An earlier delivery of the task, whose worker died, may still hold a place at the host for this request. */
  readonly isTakenOver?: boolean;
}

/** A moment by both clocks: only the wall clock counts the time a machine sleeps, and only the monotonic one is never changed by hand. */
interface Moment {
  readonly time: number;
  readonly monotonic: number;
}

interface Answer {
  readonly grant: Grant;
  readonly asked: Moment;
  readonly answered: Moment;
  /** Since it was asked, a request of this process has left the host. */
  readonly isOutdated?: boolean;
}

/** A request while it asks for its slot. */
interface Asking extends AdmittedSlotRequest {
  hasPlace: boolean;
}

/**
 * Waits for slots that the gate grants. It gives up a slot and asks for another if the slot was reached too late, its grant
 * took too long to arrive, the host was paused meanwhile, or the request before it was sent too late. A request that gets no slot keeps no
 * place at the host.
 */
export class SlotWait {
  readonly #gate: HostGate;
  readonly #clock: Clock;
  readonly #line: PlaceLine;
  readonly #observer: SlotWaitOptions['observer'];
  readonly #sends: HostSends;
  readonly #closing = new LRUCache<string, true>({ max: MOST_CLOSING });
  /** The places held by requests of this process, by host. */
  readonly #held = new Map<string, HeldPlaces>();

  constructor({ gate, clock, observer, onLine, sends = new HostSends(clock) }: SlotWaitOptions) {
    this.#gate = gate;
    this.#clock = clock;
    this.#observer = observer;
    this.#sends = sends;
    this.#line = new PlaceLine(clock, onLine);
  }

  /** Waits at most {@link MAX_SLOT_WAIT_MS} in all: longer waits belong in the frontier. */
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
    // Without limits there is nothing to ask the gate: admission has just said that the host isn't paused.
    if (limit.intervalMs === 0 && limit.concurrency === 0 && pausedMs === 0) return this.#turnOf(request);
    const asking: Asking = { ...request, hasPlace: false };
    try {
      const result = await this.#reach(asking);
      if (result.go) asking.hasPlace = false;
      return result;
    } finally {
      // If leaving fails, the place becomes free when its lease ends.
      const leaving = asking.hasPlace ? this.#gate.leave(host, limit, holder).catch(() => {}) : undefined;
      if (asking.hasPlace) this.#left(request);
      await leaving;
    }
  }

  /**
   * Waits for a slot as long as it takes; for requests that occupy no worker slot. Rejects with the signal's reason once that is aborted.
   *
   * The host's next slot is left to others, if they ask for it in time; the one after that is reserved. So these requests alternate with
   * those of pages, which ask just before each slot comes and would otherwise take every one.
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
      if (isFresh && grant.inMs === 0 && !this.#isTooSoon(request)) return this.#turnOf(request, tookMs);
      if (isFresh && grant.inMs > 0) {
        await clock.sleep(grant.inMs, signal);
        const reached = this.#moment();
        const waitedMs = passed(answered, reached);
        const isInTime = !signal.aborted && waitedMs - grant.inMs <= slotToleranceMs(limit.intervalMs);
        if (isInTime && (await this.#gate.stillOpen(host)) && this.#since(reached) <= SLOWEST_ANSWER_MS) {
          // Each of the three delays can be short while their sum exceeds the interval.
          const latestMs = Math.max(limit.intervalMs, SLOWEST_ANSWER_MS);
          const lateMs = this.#since(asked) - grant.inMs;
          if (lateMs <= latestMs && !this.#isTooSoon(request)) return this.#turnOf(request, lateMs);
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
    const sending = this.#sends.begin(request.host);
    return { go: true, turn: new Turn(this.#gate, request, this.#closing, { lateMs, onLeave, sending }) };
  }

  #isTooSoon({ host, limit }: SlotRequest): boolean {
    return !this.#closing.has(host) && this.#sends.isTooSoon(host, limit.intervalMs);
  }

  #taken({ host, limit }: SlotRequest): void {
    if (limit.concurrency === 0) return;
    const held = this.#held.get(host) ?? { count: 0, left: 0 };
    // The gate can grant one more if the lease of a place ended whose request never left.
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
   * Asks the gate. While all places at the host are taken, it waits in line behind earlier requests and then asks repeatedly. While this
   * process itself holds all places, it waits for one of its own requests to leave instead of asking.
   */
  async #askInTurn(request: Asking, until: number): Promise<Answer> {
    const { host, signal } = request;
    const clock = this.#clock;
    const line = this.#line;
    // A request that has its place but lost its slot doesn't queue: those in line wait for it.
    if (request.hasPlace) return await this.#ask(request);
    // Nor does one that may have inherited a place from a dead worker: in line it could time out, with nobody left to use the place.
    const inherited = request.isTakenOver === true && line.has(host) ? await this.#ask(request) : undefined;
    if (inherited?.grant.granted === true) return inherited;
    // Ask first, even while this process holds all places: if it is the host's pace that makes the request wait, don't wait in line.
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

/** Milliseconds between two moments, by whichever clock says more: a slot that is late by either clock is late. */
function passed(from: Moment, to: Moment): number {
  return Math.max(to.time - from.time, to.monotonic - from.monotonic);
}
