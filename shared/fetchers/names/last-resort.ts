import { ADDRCONFIG, promises as dns, type LookupAddress } from 'node:dns';
import { Turns } from '../../runtime/turns.ts';
import { NameError, nameCodeOf } from './name-error.ts';

/** As many as libuv lets run at once, of four threads. More would only wait there, in front of files. */
const AT_ONCE = 2;
/** Names that name servers have already said no to: with more of them waiting, that no stands. */
const MOST_WAITING = 16;
/** … and so it does after this time. */
const ENOUGH_MS = 2_000;

/** The resolver of the operating system: hosts file, DNS with search domains, mDNS, and whatever else it is set up for. */
export type SystemLookup = (name: string) => Promise<LookupAddress[]>;

const systemLookup: SystemLookup = (name) => dns.lookup(name, { all: true, hints: ADDRCONFIG });

/**
 * Asks the operating system for names that DNS doesn't know: of one label, under a search domain, of mDNS. It holds a thread
 * for each, so there are two at once, apart from all other look-ups.
 */
export class LastResort {
  readonly #lookup: SystemLookup;
  readonly #turns = new Turns(AT_ONCE);

  constructor(lookup: SystemLookup = systemLookup) {
    this.#lookup = lookup;
  }

  /**
   * All addresses of a name. Rejects with a {@link NameError}.
   *
   * @param isDoubtful DNS has said no, and most likely that is all there is to say: it is asked only if there is room
   */
  async ask(name: string, isDoubtful: boolean): Promise<LookupAddress[]> {
    if (!isDoubtful) return await this.#ask(name);
    if (this.#turns.waiting >= MOST_WAITING) throw new NameError('ENOTFOUND', name);
    let timer: NodeJS.Timeout | undefined;
    const enough = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new NameError('ENOTFOUND', name)), ENOUGH_MS);
    });
    try {
      return await Promise.race([this.#ask(name), enough]);
    } finally {
      clearTimeout(timer);
    }
  }

  async #ask(name: string): Promise<LookupAddress[]> {
    try {
      return await this.#turns.run(() => this.#lookup(name));
    } catch (error: unknown) {
      throw new NameError(nameCodeOf(error), name);
    }
  }
}

/** May the operating system know a name that DNS doesn't: one without a dot, or of mDNS (RFC 6762)? */
export function isLocalName(name: string): boolean {
  return !name.includes('.') || name.endsWith('.local');
}
