import { performance } from 'node:perf_hooks';
import { BoundedMap } from '../../../../shared/runtime/collections/bounded-map.ts';

interface SilentHostsOptions {
  /** Returns the number of pages this process currently works on at once. */
  readonly slots: () => number;
  /** Called when a host had to wait, or a request was cut short, for lack of slots. */
  readonly onShortage: () => void;
  /** Returns milliseconds of any clock that only goes forward. */
  readonly now?: () => number;
}

/** A request to a host that has never answered. */
export interface FirstRequest {
  /** Aborted to make room for a request to another host, if the host has not answered yet. */
  readonly signal: AbortSignal;
  /** Notes that the host has answered. */
  answered(): void;
  /** Must be called when the request ends, answered or not. */
  end(): void;
}

interface OpenRequest {
  readonly host: string;
  readonly since: number;
  readonly abort: AbortController;
}

/** Time after which a host that hasn't answered is considered silent. */
const SILENT_AFTER_MS = 2_000;
/** Factor by which a host gets more time, each time it was silent, before it must make room: 2 s, 8 s, then until the time-out. */
const LONGER_EACH_TIME = 4;
/** Maximum hosts remembered as having answered, and as silent; about 100 bytes each. */
const MOST_KNOWN = 100_000;

/**
 * Keeps silent hosts from taking all slots: a request to one, whether or not it accepts the connection, lasts until
 * its time-out. A host that has never answered may have one long request at a time, and all such hosts together half of the
 * slots. While that half is used up:
 *
 * | a host that                  | then                                                                                   |
 * |------------------------------|----------------------------------------------------------------------------------------|
 * | has answered                 | is asked                                                                               |
 * | was never asked              | is asked; the oldest silent request makes room, and its page comes back later          |
 * | was silent when it was asked | waits in the frontier                                                                  |
 */
export class SilentHosts {
  readonly #options: SilentHostsOptions;
  /** Hosts that have answered. */
  readonly #answered = new BoundedMap<string, true>(MOST_KNOWN);
  /** Number of times that other hosts were silent. */
  readonly #silent = new BoundedMap<string, number>(MOST_KNOWN);
  /** Open requests to hosts that have not answered, the oldest first. */
  readonly #open = new Set<OpenRequest>();

  constructor(options: SilentHostsOptions) {
    this.#options = options;
  }

  /** Returns whether a request to this host may begin under the limits for silent hosts. If there is no room, others can be cut short for it. */
  mayAsk(host: string): boolean {
    if (this.#open.size === 0 || this.#answered.has(host)) return true;
    const now = this.#now();
    let room = Math.ceil(this.#options.slots() / 2);
    const longest: OpenRequest[] = [];
    for (const request of this.#open) {
      if (this.#answered.has(request.host)) continue;
      const age = now - request.since;
      const times = this.#silent.get(request.host) ?? 0;
      if (age < SILENT_AFTER_MS && times === 0) {
        // All that follow are even younger.
        if (this.#silent.size === 0) break;
        continue;
      }
      if (request.host === host) return false;
      room--;
      if (age >= SILENT_AFTER_MS * LONGER_EACH_TIME ** times) longest.push(request);
    }
    if (room > 0) return true;
    this.#options.onShortage();
    if (this.#silent.has(host)) return false;
    const cut = longest.slice(0, 1 - room);
    for (const request of cut) {
      this.#open.delete(request);
      request.abort.abort();
    }
    return cut.length > 0;
  }

  /** Notes that a request begins. Returns nothing if the host has answered before. */
  begin(host: string): FirstRequest | undefined {
    if (this.#answered.get(host) === true) return undefined;
    const request = { host, since: this.#now(), abort: new AbortController() };
    this.#open.add(request);
    return {
      signal: request.abort.signal,
      answered: () => this.#hasAnswered(request),
      end: () => this.#end(request),
    };
  }

  #hasAnswered(request: OpenRequest): void {
    const { host } = request;
    this.#open.delete(request);
    this.#silent.delete(host);
    this.#answered.set(host, true);
  }

  #end(request: OpenRequest): void {
    const { host, since } = request;
    this.#open.delete(request);
    if (this.#answered.has(host) || this.#now() - since < SILENT_AFTER_MS) return;
    this.#silent.set(host, (this.#silent.get(host) ?? 0) + 1);
  }

  #now(): number {
    return (this.#options.now ?? (() => performance.now()))();
  }
}
