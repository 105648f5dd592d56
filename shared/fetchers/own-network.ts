import { FetchError } from '../ports/fetcher.ts';
import { codeOf } from '../runtime/errors.ts';

/** This many hosts without an answer, and none with one, mean that the network is away. */
const HOSTS_OF_AN_OUTAGE = 3;
/** A host that hasn't answered this long after its first request began, while another has, is itself the cause. */
const SILENT_AFTER_MS = 2_000;
/** Hosts remembered; about 100 bytes each. */
const MOST_KNOWN = 100_000;
/** There is no way to the host. */
const NO_WAY = /^E(NETUNREACH|NETDOWN|HOSTUNREACH|HOSTDOWN|ADDRNOTAVAIL)$/;
/** The host said no. */
const SAID_NO = /^ECONN(REFUSED|RESET)$/;

/**
 * Tells an outage of this process' own network from hosts that are down.
 *
 * The network is away while three hosts or more have failed with time-outs, unanswered look-ups or no route, and no host has
 * answered since. A refused connection, a bad certificate and a name that doesn't exist never mean an outage, and show that
 * there is none. Nor does a host that stayed silent while another answered: it is the cause itself, until it answers.
 */
export class OwnNetwork {
  readonly #now: () => number;
  /** Hosts that have not answered since they failed: when their first request began, and whether they are the cause. */
  readonly #failing = new Map<string, { readonly since: number; isCause: boolean }>();
  /** Those of them that failed after the last answer, and are not known to be the cause. */
  readonly #quiet = new Set<string>();
  #answeredAt = Number.NEGATIVE_INFINITY;

  /** @param now milliseconds, of any clock that only goes forward */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Does no host answer, of several that were asked? */
  get isAway(): boolean {
    return this.#quiet.size >= HOSTS_OF_AN_OUTAGE;
  }

  /** Makes a request to the host, and notes what it comes to. A failure that is the network's has reason `network`. */
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
    const [oldest] = this.#failing.size > MOST_KNOWN ? this.#failing.keys() : [];
    if (oldest !== undefined) {
      this.#failing.delete(oldest);
      this.#quiet.delete(oldest);
    }
    return noted;
  }
}

function awayFrom(error: FetchError): FetchError {
  return new FetchError('network', `${error.message}; nor does any other host answer`, { cause: error.cause });
}
