import { FetchError } from '../ports/fetcher.ts';
import { BoundedMap } from '../runtime/collections/bounded-map.ts';
import { codeOf } from '../runtime/errors.ts';

/** If this many hosts fail and none answers, the network is down. */
const HOSTS_OF_AN_OUTAGE = 3;
/** If another host answers this long or longer after a silent host's first request, the silent host is itself the cause. */
const SILENT_AFTER_MS = 2_000;
/** Hosts remembered; about 100 bytes each. */
const MOST_KNOWN = 100_000;
/** Codes that mean there is no route to the host. */
const NO_WAY = /^E(NETUNREACH|NETDOWN|HOSTUNREACH|HOSTDOWN|ADDRNOTAVAIL)$/;
/** Codes that mean the host refused. */
const SAID_NO = /^ECONN(REFUSED|RESET)$/;

/**
 * Distinguishes an outage of this process's own network from hosts that are down.
 *
 * The network is down while three hosts or more have failed with time-outs, unanswered look-ups or no route, and no host has answered
 * since. A refused connection, a bad certificate and a name that doesn't exist prove that the network works. A host that stayed silent
 * while another one answered is itself the cause until it answers, so it doesn't count either.
 */
export class OwnNetwork {
  readonly #now: () => number;
  /** Hosts that have not answered since they failed: when their first request began, and whether they are themselves the cause. */
  readonly #failing = new BoundedMap<string, { readonly since: number; isCause: boolean }>(MOST_KNOWN, (host) =>
    this.#quiet.delete(host),
  );
  /** The failing hosts that failed after the last answer and are not known to be the cause. */
  readonly #quiet = new Set<string>();
  #answeredAt = Number.NEGATIVE_INFINITY;

  /** @param now returns milliseconds of any clock that only goes forward */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Whether several hosts were asked and none answers. */
  get isAway(): boolean {
    return this.#quiet.size >= HOSTS_OF_AN_OUTAGE;
  }

  /** Makes a request to the host and notes the result. A failure caused by the network gets the reason `network`. */
  async watch<T>(host: string, request: () => Promise<T>): Promise<T> {
    const since = this.#now();
    try {
      const answer = await request();
      this.#hasAnswered(host);
      return answer;
    } catch (error: unknown) {
      if (!(error instanceof FetchError)) throw error;
      if (error.status !== undefined) this.#hasAnswered(host);
      else if (this.#hasFailed(host, since, error)) throw awayFrom(error);
      throw error;
    }
  }

  #hasAnswered(host: string): void {
    this.#failing.delete(host);
    this.#showsWay();
  }

  #showsWay(): void {
    this.#answeredAt = this.#now();
    this.#quiet.clear();
  }

  /** Returns whether the network is the cause. */
  #hasFailed(host: string, since: number, { reason, cause }: FetchError): boolean {
    const code = codeOf(cause) ?? '';
    if (reason === 'nxdomain' || reason === 'tls' || SAID_NO.test(code)) {
      this.#showsWay();
      this.#note(host, since).isCause = true;
      return false;
    }
    if (reason !== 'timeout' && reason !== 'dns' && !(reason === 'connection' && NO_WAY.test(code))) return false;
    const noted = this.#note(host, since);
    if (this.#answeredAt >= noted.since + SILENT_AFTER_MS) noted.isCause = true;
    if (noted.isCause) return false;
    this.#quiet.add(host);
    return this.isAway;
  }

  #note(host: string, since: number): { readonly since: number; isCause: boolean } {
    const noted = this.#failing.get(host) ?? { since, isCause: false };
    this.#failing.set(host, noted);
    return noted;
  }
}

function awayFrom(error: FetchError): FetchError {
  return new FetchError('network', `${error.message}; no other host answers either`, { cause: error.cause });
}
