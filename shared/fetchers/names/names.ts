import type { LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';
import type { Clock } from '../../runtime/clock.ts';
import { ExpiringCache } from '../../runtime/collections/expiring-cache.ts';
import { Turns } from '../../runtime/turns.ts';
import type { Resolve } from '../address-guard.ts';
import { type Family, usableFamilies, usableOf } from './address-families.ts';
import { HOSTS_PATH, type Hosts, parseHosts } from './hosts-file.ts';
import { isLocalName, LastResort, type SystemLookup } from './last-resort.ts';
import { NameError, nameCodeOf } from './name-error.ts';
import { NameServers, type Patience } from './name-servers.ts';
import { WatchedFile } from './watched-file.ts';

/** Maximum names that are asked for at once. */
const AT_ONCE = 64;
/** Maximum names, besides those, that are asked for a second time because no answer came within a second. Each holds a socket. */
const SLOW_AT_ONCE = 512;
const KEEP_MS = 60_000;
const KEEP_FAILURE_MS = 5_000;
const KEEP_FAMILIES_MS = 10_000;
/** Maximum names kept: some 60 bytes each, and a few hundred for one that exists. */
const MOST_KEPT = 10_000;

/** Names that are never looked up (RFC 6761 section 6.3). */
const LOCALHOST = /^(.+\.)?localhost$/;
const LOOPBACK: readonly LookupAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];

interface NamesOptions {
  readonly clock: Pick<Clock, 'monotonic'>;
  /**
   * Each is `address`, `address:port` or `[address]:port`; no others are asked then. Default: the system's, and the system itself as a last
   * resort.
   */
  readonly servers?: readonly string[];
  readonly hostsPath?: string;
  /** Default: the families that this machine can use. */
  readonly families?: () => readonly Family[];
  readonly patience?: Patience;
  /** The last resort. Default: getaddrinfo, unless `servers` is given. */
  readonly systemLookup?: SystemLookup;
}

type Answer = readonly LookupAddress[] | NameError['code'];

/**
 * Finds the addresses of host names, many at a time. `dns.lookup` finds two at a time, since each look-up holds one of libuv's threads.
 *
 * | source, in order | what it answers                                                                    |
 * |------------------|------------------------------------------------------------------------------------|
 * | cache            | addresses for 60 s, failures for 5 s; a name being looked up isn't asked for again |
 * | hosts file       | read again when it changes                                                         |
 * | `localhost`      | loopback, also for names under it                                                  |
 * | name servers     | A and AAAA together, 64 names at once. A slow name makes room for others           |
 * |                  | after a second, and is asked for again among up to 512 such names                  |
 * | system           | names that name servers don't know: two at once, separately from those             |
 *
 * A machine without IPv6 doesn't ask for AAAA. With IPv6, its addresses come first; Node.js tries the others too. A look-up continues when
 * one of its callers stops waiting: each has its own time limit.
 *
 * Nothing is judged here: the address guard judges the addresses of every connection, cached or not.
 */
export class Names {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #hosts: WatchedFile<Hosts>;
  readonly #servers: NameServers;
  readonly #lastResort: LastResort | undefined;
  readonly #families: () => readonly Family[];
  readonly #turns = new Turns(AT_ONCE);
  readonly #slowTurns = new Turns(SLOW_AT_ONCE);
  readonly #kept: ExpiringCache<Answer & {}>;
  readonly #underWay = new Map<string, Promise<Answer>>();
  #usable: { readonly families: readonly Family[]; readonly until: number } | undefined;

  constructor(options: NamesOptions) {
    const { clock, servers = [], hostsPath = HOSTS_PATH, families = usableFamilies, patience, systemLookup } = options;
    this.#clock = clock;
    this.#hosts = new WatchedFile({ path: hostsPath, clock, parse: parseHosts });
    this.#servers = new NameServers({ servers, clock, patience });
    const asksSystem = systemLookup !== undefined || servers.length === 0;
    this.#lastResort = asksSystem ? new LastResort(systemLookup) : undefined;
    this.#families = families;
    this.#kept = new ExpiringCache({ clock, max: MOST_KEPT });
  }

  /** Returns all addresses of a name. Rejects with a {@link NameError}. */
  readonly resolve: Resolve = async (host) => {
    const name = host.toLowerCase().replace(/\.$/, '');
    const answer = this.#kept.get(name) ?? (await (this.#underWay.get(name) ?? this.#begin(name)));
    // A new error for each caller, since callers add to it when they report it.
    if (typeof answer === 'string') throw new NameError(answer, host, await this.#servers.addresses());
    return [...answer];
  };

  /** {@link resolve} in the form that `net.connect` expects. */
  readonly lookup: LookupFunction = (host, { all, family }, callback) => {
    const wanted = family === 4 || family === 'IPv4' ? 4 : family === 6 || family === 'IPv6' ? 6 : undefined;
    this.resolve(host)
      .then((addresses) => {
        const fitting = addresses.filter((each) => wanted === undefined || each.family === wanted);
        const [first] = fitting;
        if (first === undefined) throw new NameError('ENOTFOUND', host);
        return { fitting, first };
      })
      .then(
        ({ fitting, first }) => (all ? callback(null, fitting) : callback(null, first.address, first.family)),
        (error: NodeJS.ErrnoException) => callback(error, []),
      );
  };

  async #begin(name: string): Promise<Answer> {
    const answer = this.#find(name).catch((error: unknown) => nameCodeOf(error));
    this.#underWay.set(name, answer);
    const found = await answer;
    this.#underWay.delete(name);
    this.#kept.keep(name, found, typeof found === 'string' ? KEEP_FAILURE_MS : KEEP_MS);
    return found;
  }

  async #find(name: string): Promise<Answer> {
    const families = this.#usableFamilies();
    const own = (await this.#hosts.read()).get(name) ?? (LOCALHOST.test(name) ? LOOPBACK : undefined);
    if (own !== undefined) return usableOf(own, families);
    try {
      return await this.#ask(name, families);
    } catch (error: unknown) {
      const code = nameCodeOf(error);
      const mayBeKnown = code === 'ENOTFOUND' || code === 'EAI_AGAIN';
      if (this.#lastResort === undefined || !mayBeKnown) throw error;
      return await this.#lastResort.ask(name, code === 'ENOTFOUND' && !isLocalName(name));
    }
  }

  async #ask(name: string, families: readonly Family[]): Promise<Answer> {
    try {
      return await this.#turns.run(() => this.#servers.ask(name, families));
    } catch (error: unknown) {
      if (nameCodeOf(error) !== 'ETIMEOUT') throw error;
      return await this.#slowTurns.run(() => this.#servers.askAgain(name, families));
    }
  }

  /** Cached, since a machine's addresses seldom change, and listing them takes as long as parsing a page's links. */
  #usableFamilies(): readonly Family[] {
    const now = this.#clock.monotonic();
    if (this.#usable === undefined || now >= this.#usable.until)
      this.#usable = { families: this.#families(), until: now + KEEP_FAMILIES_MS };
    return this.#usable.families;
  }
}
