import { promises as dns, type LookupAddress } from 'node:dns';
import type { Clock } from '../../runtime/clock.ts';
import type { Family } from './address-families.ts';
import { NameError, nameCodeOf } from './name-error.ts';
import { WatchedFile } from './watched-file.ts';

/** Where Unix names its name servers. */
const RESOLV_CONF = '/etc/resolv.conf';

/** Two tries. c-ares waits five times a server's usual answer, at least 250 ms, and 2 s for one that it doesn't know yet. */
export const PATIENCE = { timeout: 2_000, tries: 2, maxTimeout: 2_000 };

/** Then one that waits for a slow name: a new resolver doesn't know how quick the server usually is. */
const LAST_TRY = { timeout: 7_000, tries: 1 };

interface NameServersOptions {
  /** `address`, `address:port` or `[address]:port`. None: those of the system, also when they change. */
  readonly servers: readonly string[];
  readonly clock: Pick<Clock, 'now'>;
  /** Default: {@link PATIENCE}. */
  readonly patience?: typeof PATIENCE | undefined;
}

/** Asks name servers, by c-ares: on the event loop, and not on one of the few threads that getaddrinfo would hold. */
export class NameServers {
  readonly #resolver: () => Promise<dns.Resolver>;

  constructor({ servers, clock, patience = PATIENCE }: NameServersOptions) {
    if (servers.length > 0) {
      const resolver = new dns.Resolver(patience);
      resolver.setServers(servers);
      this.#resolver = async () => resolver;
    } else {
      // c-ares reads the file once for each resolver.
      const file = new WatchedFile({ path: RESOLV_CONF, clock, parse: () => new dns.Resolver(patience) });
      this.#resolver = () => file.read();
    }
  }

  /** All addresses of a name, in the order of `families`. Rejects with a {@link NameError} when there is none. */
  async ask(name: string, families: readonly Family[]): Promise<LookupAddress[]> {
    const resolver = await this.#resolver();
    const answers = await Promise.all(families.map((family) => addressesOf(resolver, name, family)));
    const addresses = answers.flatMap((answer) => (typeof answer === 'string' ? [] : answer));
    if (addresses.length > 0) return addresses;
    const codes = answers.filter((answer) => typeof answer === 'string');
    // A name that has no IPv6 address may still have another, which a server that failed would have told.
    throw new NameError(codes.find((code) => code !== 'ENOTFOUND') ?? 'ENOTFOUND', name);
  }
}

/** The addresses of one family, or the code of why there are none. */
async function addressesOf(
  resolver: dns.Resolver,
  name: string,
  family: Family,
  isLast = false,
): Promise<LookupAddress[] | string> {
  try {
    const addresses = await (family === 4 ? resolver.resolve4(name) : resolver.resolve6(name));
    return addresses.map((address) => ({ address, family }));
  } catch (error: unknown) {
    const code = nameCodeOf(error);
    if (code !== 'ETIMEOUT' || isLast) return code;
    const patient = new dns.Resolver(LAST_TRY);
    patient.setServers(resolver.getServers());
    return await addressesOf(patient, name, family, true);
  }
}
