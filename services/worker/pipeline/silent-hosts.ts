import { performance } from 'node:perf_hooks';

interface SilentHostsOptions {
  /** How many pages this process works on at once, for now. */
  readonly slots: () => number;
  /** A host had to wait, or another to be cut short, for lack of slots. */
  readonly onShortage: () => void;
  /** Milliseconds, of any clock that only goes forward. */
  readonly now?: () => number;
}

/** A request to a host that has never answered. */
export interface FirstRequest {
  /** Aborted when it is to make room for another host. */
  readonly signal: AbortSignal;
  /** To be called when it is over. */
  end(hasAnswered: boolean): void;
}

interface OpenRequest {
  readonly host: string;
  readonly since: number;
  readonly abort: AbortController;
}

/** A host that hasn't answered within this may never do so. */
const SILENT_AFTER_MS = 2_000;
/** Each time that a host was silent, it is waited for longer before it has to make room: 2 s, 8 s, and then until its time-out. */
const LONGER_EACH_TIME = 4;
/** 100 bytes each. */
const MOST_KNOWN = 100_000;

/**
 * Hosts that accept a connection, or not even that, and never answer: each request to one lasts until its time-out, and a
 * thousand of them would have all slots. A host that never answered has one request at a time that lasts; all such hosts
 * together have half of the slots.
 *
 * | a host that                     | while they have half of the slots                                                   |
 * |---------------------------------|-------------------------------------------------------------------------------------|
 * | has answered                    | is asked                                                                            |
 * | was never asked                 | is asked: one that has been silent for long enough makes room, and comes back later |
 * | was silent when it was asked    | waits in the frontier                                                               |
 */
export class SilentHosts {
  readonly #options: SilentHostsOptions;
  /** Hosts that have answered, the latest of them. */
  readonly #answered = new Set<string>();
  /** How often others were silent, the latest of them. */
  readonly #silent = new Map<string, number>();
  /** Requests to others, the oldest first. */
  readonly #open = new Set<OpenRequest>();

  constructor(options: SilentHostsOptions) {
    this.#options = options;
  }

  /** May a host be asked, as far as silent hosts go? Another one may be cut short for it. */
  mayAsk(host: string): boolean {
    if (this.#open.size === 0 || this.#answered.has(host)) return true;
    const now = this.#now();
    let room = Math.ceil(this.#options.slots() / 2);
    const longest: OpenRequest[] = [];
    for (const request of this.#open) {
      const age = now - request.since;
      const times = this.#silent.get(request.host) ?? 0;
      if (age < SILENT_AFTER_MS && times === 0) continue;
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

  /** A request to a host begins. Nothing if the host has answered before. */
  begin(host: string): FirstRequest | undefined {
    if (this.#answered.has(host)) return undefined;
    const request = { host, since: this.#now(), abort: new AbortController() };
    this.#open.add(request);
    return { signal: request.abort.signal, end: (hasAnswered) => this.#end(request, hasAnswered) };
  }

  #end(request: OpenRequest, hasAnswered: boolean): void {
    const { host, since } = request;
    this.#open.delete(request);
    if (hasAnswered) {
      this.#silent.delete(host);
      this.#answered.add(host);
      forgetOldest(this.#answered);
    } else if (this.#now() - since >= SILENT_AFTER_MS) {
      const times = (this.#silent.get(host) ?? 0) + 1;
      this.#silent.delete(host);
      this.#silent.set(host, times);
      forgetOldest(this.#silent);
    }
  }

  #now(): number {
    return (this.#options.now ?? (() => performance.now()))();
  }
}

function forgetOldest(hosts: Set<string> | Map<string, unknown>): void {
  if (hosts.size <= MOST_KNOWN) return;
  const [oldest] = hosts.keys();
  if (oldest !== undefined) hosts.delete(oldest);
}
