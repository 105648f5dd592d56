import { performance } from 'node:perf_hooks';

interface SilentHostsOptions {
  /** How many pages this process works on at once, for now. */
  readonly slots: () => number;
  /** Milliseconds, of any clock that only goes forward. */
  readonly now?: () => number;
}

/** A host that hasn't answered within this may never do so. */
const SILENT_AFTER_MS = 2_000;
/** 100 bytes each. */
const MOST_KNOWN = 100_000;

/**
 * Hosts that accept a connection, or not even that, and never answer: each request to one lasts until its time-out, and a
 * thousand of them would have all slots. A host that never answered has one request at a time that lasts; all such hosts
 * together have half of the slots, and the rest of their pages wait in the frontier.
 */
export class SilentHosts {
  readonly #options: SilentHostsOptions;
  /** Hosts that have answered, the latest of them. */
  readonly #answered = new Set<string>();
  /** Requests to others, the oldest first. */
  readonly #open = new Map<symbol, { readonly host: string; readonly since: number }>();

  constructor(options: SilentHostsOptions) {
    this.#options = options;
  }

  /** May a host be asked, as far as silent hosts go? */
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

  /** A request to a host begins. Returns what is to be called at its end, with whether the host answered. */
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
