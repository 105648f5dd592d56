import { promises as dns, type LookupAddress, type ResolverOptions } from 'node:dns';
import type { Clock } from '../../runtime/clock.ts';
import type { Family } from './address-families.ts';
import { NameError, nameCodeOf } from './name-error.ts';
import { WatchedFile } from './watched-file.ts';

/** Where Unix names its name servers. */
const RESOLV_CONF = '/etc/resolv.conf';

/** How long name servers are waited for. */
export interface Patience {
  /** With the first question, which most names are answered by. */
  readonly first: ResolverOptions;
  /** With the second one, which is for slow names, and for answers that got lost. */
  readonly second: ResolverOptions;
}

/**
 * c-ares waits five times as long as a server usually takes: at least 250 ms, at most `maxTimeout`, which is 5 s if it is left
 * out, whatever `timeout` says. That one counts until three answers are in, and Node.js looks that often for what is late.
 */
const PATIENCE: Patience = {
  first: { timeout: 500, tries: 1, maxTimeout: 1_000 },
  second: { timeout: 6_000, tries: 1, maxTimeout: 6_000 },
};

interface NameServersOptions {
  /** `address`, `address:port` or `[address]:port`. None: those of the system, also when they change. */
  readonly servers: readonly string[];
  readonly clock: Pick<Clock, 'monotonic'>;
  /** Default: {@link PATIENCE}. */
  readonly patience?: Patience | undefined;
}

/** Asks name servers, by c-ares: on the event loop, and not on one of the few threads that getaddrinfo would hold. */
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
      // c-ares reads the file once for each resolver.
      const file = new WatchedFile({ path: RESOLV_CONF, clock, parse: () => new dns.Resolver(first) });
      this.#resolver = () => file.read();
    }
  }

  /**
   * All addresses of a name, in the order of `families`. Rejects with a {@link NameError} when there is none: with `ETIMEOUT`
   * soon, since the name may only be slow.
   */
  async ask(name: string, families: readonly Family[]): Promise<LookupAddress[]> {
    return await addressesBy(await this.#resolver(), name, families);
  }

  /** The same, for a name that {@link ask} came too early for. */
  async askAgain(name: string, families: readonly Family[]): Promise<LookupAddress[]> {
    // A new one: it doesn't know how quick the servers usually are, so it waits.
    const resolver = new dns.Resolver(this.#patience.second);
    resolver.setServers((await this.#resolver()).getServers());
    return await addressesBy(resolver, name, families);
  }

  /** Those that are asked, as `servers` are written. */
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
  // A name that has no IPv6 address may still have another, which a server that failed would have told.
  throw new NameError(codes.find((code) => code !== 'ENOTFOUND') ?? 'ENOTFOUND', name);
}

/** The addresses of one family, or the code of why there are none. */
async function addressesOf(resolver: dns.Resolver, name: string, family: Family): Promise<LookupAddress[] | string> {
  try {
    const addresses = await (family === 4 ? resolver.resolve4(name) : resolver.resolve6(name));
    return addresses.map((address) => ({ address, family }));
  } catch (error: unknown) {
    return nameCodeOf(error);
  }
}
