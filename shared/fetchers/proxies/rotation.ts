import type { LookupFunction } from 'node:net';
import type { Clock } from '../../runtime/clock.ts';
import type { ProxyAddress } from '../../task/host/proxy-list.ts';

/** Duration of a proxy's first rest after a failure; each further rest is twice as long. */
const FIRST_REST_MS = 60_000;
const LONGEST_REST_MS = 900_000;

/** A proxy that fails to reach this many hosts in a row is at fault itself. */
const HOSTS_IN_A_ROW = 3;

/** Called when a proxy begins to rest. */
export type OnRest = (proxy: ProxyAddress, trouble: string, restMs: number) => void;

interface RotationOptions {
  readonly proxies: readonly ProxyAddress[];
  readonly clock: Pick<Clock, 'monotonic'>;
  /** Looks up the proxies' own names. Default: `dns.lookup`. */
  readonly lookup?: LookupFunction | undefined;
  readonly onRest?: OnRest | undefined;
}

interface State {
  readonly proxy: ProxyAddress;
  /** Failures in a row. */
  failures: number;
  restsUntil: number;
  /** The failure that made it rest. */
  trouble: string;
  /** Hosts it has failed to reach since it last worked or rested. */
  readonly unreached: Set<string>;
}

/**
 * Takes the proxies of one process in turn, except those that are resting.
 *
 * | a proxy …                                            | then                                                   |
 * |------------------------------------------------------|--------------------------------------------------------|
 * | failed                                               | rests for 60 s, doubled each time, up to 15 min        |
 * | could not reach a host that another one then reached | the same                                               |
 * | could not reach three hosts in a row                 | the same                                               |
 * | could not reach a host                               | stays in use: most likely the host is down             |
 * | passed an answer on                                  | starts afresh: earlier failures no longer count        |
 */
export class Rotation {
  /** The resolver of the proxies' own names, if not `dns.lookup`. */
  readonly lookup: LookupFunction | undefined;
  readonly #states: readonly State[];
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #onRest: OnRest | undefined;
  #next = 0;

  constructor({ proxies, clock, lookup, onRest }: RotationOptions) {
    this.lookup = lookup;
    this.#states = proxies.map((proxy) => ({ proxy, failures: 0, restsUntil: 0, trouble: '', unreached: new Set() }));
    this.#clock = clock;
    this.#onRest = onRest;
  }

  /** Returns the proxies to try for one request, in order; none if all are resting. */
  order(): readonly ProxyAddress[] {
    const inTurn = [...this.#states.slice(this.#next), ...this.#states.slice(0, this.#next)];
    const awake = inTurn.filter((state) => !this.#rests(state));
    const [first] = awake;
    if (first !== undefined) this.#next = (this.#states.indexOf(first) + 1) % this.#states.length;
    return awake.map(({ proxy }) => proxy);
  }

  /** Notes an answer that came through the proxy. */
  worked(proxy: ProxyAddress): void {
    const state = this.#of(proxy);
    state.failures = 0;
    state.restsUntil = 0;
    state.unreached.clear();
  }

  /** Notes a failure of the proxy itself. Failures of requests in flight at the same time count as one. */
  failed(proxy: ProxyAddress, trouble: string): void {
    const state = this.#of(proxy);
    if (this.#rests(state)) return;
    const restMs = Math.min(LONGEST_REST_MS, FIRST_REST_MS * 2 ** state.failures);
    state.failures += 1;
    state.restsUntil = this.#clock.monotonic() + restMs;
    state.trouble = trouble;
    state.unreached.clear();
    this.#onRest?.(proxy, trouble, restMs);
  }

  /** Notes that the proxy reported the host as unreachable, or didn't answer. */
  unreached(proxy: ProxyAddress, host: string, trouble: string): void {
    const { unreached } = this.#of(proxy);
    unreached.add(host);
    if (unreached.size >= HOSTS_IN_A_ROW) this.failed(proxy, trouble);
  }

  /** Whether every proxy is resting. */
  get isResting(): boolean {
    return this.#states.every((state) => this.#rests(state));
  }

  rests(proxy: ProxyAddress): boolean {
    return this.#rests(this.#of(proxy));
  }

  /** The failure that made each resting proxy rest. */
  get troubles(): readonly string[] {
    return this.#states.filter((state) => this.#rests(state)).map(({ trouble }) => trouble);
  }

  #rests({ restsUntil }: State): boolean {
    return restsUntil > this.#clock.monotonic();
  }

  #of(proxy: ProxyAddress): State {
    const state = this.#states.find((each) => each.proxy === proxy);
    if (state === undefined) throw new Error(`${proxy.name} is not in this rotation`);
    return state;
  }
}
