import { promises as dns, type LookupAddress, type ResolverOptions } from 'node:dns';
import type { Clock } from '../../runtime/clock.ts';
import type { Family } from './address-families.ts';
import { NameError, nameCodeOf } from './name-error.ts';
import { WatchedFile } from './watched-file.ts';

/** The file in which Unix lists its name servers. */
const RESOLV_CONF = '/etc/resolv.conf';

/** Time limits for name servers. */
export interface Patience {
  /** For the first question, which resolves most names. */
  readonly first: ResolverOptions;
  /** For the second question, which is for slow names and lost answers. */
  readonly second: ResolverOptions;
}

/**
 * Default time limits. c-ares waits five times as long as a server usually takes: at least 250 ms and at most `maxTimeout` (5 s if left
 * out), whatever `timeout` says. `timeout` applies until three answers are in, and is also the interval at which Node.js checks for overdue
 * answers.
 */
const PATIENCE: Patience = {
  first: { timeout: 500, tries: 1, maxTimeout: 1_000 },
  second: { timeout: 6_000, tries: 1, maxTimeout: 6_000 },
};

interface NameServersOptions {
  /** Each is `address`, `address:port` or `[address]:port`. If empty, the system's are used, and re-read when they change. */
  readonly servers: readonly string[];
  readonly clock: Pick<Clock, 'monotonic'>;
  /** Default: {@link PATIENCE}. */
  readonly patience?: Patience | undefined;
}

/** Asks name servers through c-ares, which runs on the event loop instead of holding one of the few threads that getaddrinfo needs. */
export class NameServers {
  readonly #patience: Patience;
  readonly #resolver: () => Promise<dns.Resolver>;

  constructor({ servers, clock, patience = PATIENCE }: NameServersOptions) {
    this.#patience = patience;
    const { first } = patience;
    if (servers.length > 0) {
      const resolver = new dns.Resolver(first);
      resolver.setServers(servers);
      this.#resolver = async () => resolver;
    } else {
      // A resolver of c-ares reads the file only once.
      const file = new WatchedFile({ path: RESOLV_CONF, clock, parse: () => new dns.Resolver(first) });
      this.#resolver = () => file.read();
    }
  }

  /**
   * Returns all addresses of a name, in the order of `families`. Rejects with a {@link NameError} if there is none. It gives up with
   * `ETIMEOUT` after a short time, since the name might only be slow.
   */
  async ask(name: string, families: readonly Family[]): Promise<LookupAddress[]> {
    return await addressesBy(await this.#resolver(), name, families);
  }

  /** Asks again, and waits longer, for a name whose {@link ask} ended with `ETIMEOUT`. */
  async askAgain(name: string, families: readonly Family[]): Promise<LookupAddress[]> {
    // A new resolver doesn't know how fast the servers usually are, so it waits for the full time.
    const resolver = new dns.Resolver(this.#patience.second);
    resolver.setServers((await this.#resolver()).getServers());
    return await addressesBy(resolver, name, families);
  }

  /** The name servers in use, written as in `servers`. */
  async addresses(): Promise<readonly string[]> {
    return (await this.#resolver()).getServers();
  }
}

async function addressesBy(
  resolver: dns.Resolver,
  name: string,
  families: readonly Family[],
): Promise<LookupAddress[]> {
  const answers = await Promise.all(families.map((family) => addressesOf(resolver, name, family)));
  const addresses = answers.flatMap((answer) => (typeof answer === 'string' ? [] : answer));
  if (addresses.length > 0) return addresses;
  const codes = answers.filter((answer) => typeof answer === 'string');
  // A name without an IPv6 address can still have an IPv4 one, which the server that failed would have known.
  throw new NameError(codes.find((code) => code !== 'ENOTFOUND') ?? 'ENOTFOUND', name);
}

/** Returns the addresses of one family, or the error code if there are none. */
async function addressesOf(resolver: dns.Resolver, name: string, family: Family): Promise<LookupAddress[] | string> {
  try {
    const addresses = await (family === 4 ? resolver.resolve4(name) : resolver.resolve6(name));
    return addresses.map((address) => ({ address, family }));
  } catch (error: unknown) {
    return nameCodeOf(error);
  }
}
