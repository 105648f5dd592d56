import { performance } from 'node:perf_hooks';

interface SilentHostsOptions {
  /** How many pages this process works on at once, for now. */
  readonly slots: () => number;
  /** Milliseconds, of any clock that only goes forward. */
  readonly now?: () => number;
}

/** A host that hasn't answered after this long may never answer. */
const SILENT_AFTER_MS = 2_000;
/** Hosts remembered as having answered; about 100 bytes each. */
const MOST_KNOWN = 100_000;

/**
 * Keeps hosts that never answer from taking all slots: a request to one, whether or not it accepts the connection, lasts until
 * its time-out. A host that has never answered may have one long request at a time, and all such hosts together half of the
 * slots; their other pages wait in the frontier.
 */
export class SilentHosts {
  readonly #options: SilentHostsOptions;
  /** Hosts that have answered; at most {@link MOST_KNOWN}, the oldest first. */
  readonly #answered = new Set<string>();
  /** Open requests to all other hosts, the oldest first. */
  readonly #open = new Map<symbol, { readonly host: string; readonly since: number }>();

  constructor(options: SilentHostsOptions) {
    this.#options = options;
  }

  /** May a request to this host begin, as far as the limits for silent hosts go? */
  mayAsk(host: string): boolean {
    if (this.#open.size === 0 || this.#answered.has(host)) return true;
    const silentSince = this.#now() - SILENT_AFTER_MS;
    let most = Math.ceil(this.#options.slots() / 2);
    for (const { host: other, since } of this.#open.values()) {
      if (since > silentSince) return true;
      if (other === host || --most <= 0) return false;
    }
    return true;
  }

  /** Notes that a request begins. Call the returned function when it ends, with whether the host answered. */
  begin(host: string): (hasAnswered: boolean) => void {
    if (this.#answered.has(host)) return () => {};
    const id = Symbol();
    this.#open.set(id, { host, since: this.#now() });
    return (hasAnswered) => {
      this.#open.delete(id);
      if (!hasAnswered) return;
      this.#answered.add(host);
      if (this.#answered.size <= MOST_KNOWN) return;
      const [oldest] = this.#answered;
      if (oldest !== undefined) this.#answered.delete(oldest);
    };
  }

  #now(): number {
    return (this.#options.now ?? (() => performance.now()))();
  }
}
