import { ADDRCONFIG, promises as dns, type LookupAddress } from 'node:dns';
import { Turns } from '../../runtime/turns.ts';
import { NameError, nameCodeOf } from './name-error.ts';

/** Maximum look-ups at once: libuv gives them two of its four threads. More would only wait there, ahead of file operations. */
const AT_ONCE = 2;
/** Maximum waiting look-ups of names that name servers say don't exist. When as many look-ups wait already, that answer is final. */
const MOST_WAITING = 16;
/** It is also final if the system takes longer than this. */
const ENOUGH_MS = 2_000;

/** The resolver of the operating system: hosts file, DNS with search domains, mDNS, and whatever else it is configured for. */
export type SystemLookup = (name: string) => Promise<LookupAddress[]>;

const systemLookup: SystemLookup = (name) => dns.lookup(name, { all: true, hints: ADDRCONFIG });

/**
 * Asks the operating system for names that DNS doesn't know: single labels, names under a search domain, mDNS names. Each look-up holds a
 * thread, so only two run at once, separately from all other look-ups.
 */
export class LastResort {
  readonly #lookup: SystemLookup;
  readonly #turns = new Turns(AT_ONCE);

  constructor(lookup: SystemLookup = systemLookup) {
    this.#lookup = lookup;
  }

  /**
   * Returns all addresses of a name. Rejects with a {@link NameError}.
   *
   * @param isDoubtful DNS says that the name doesn't exist, and most likely it is right: the system is asked only if there is room
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

/** Returns whether the operating system might know a name that DNS doesn't: one without a dot, or an mDNS name (RFC 6762). */
export function isLocalName(name: string): boolean {
  return !name.includes('.') || name.endsWith('.local');
}
