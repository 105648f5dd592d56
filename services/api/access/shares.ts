import { Problem } from '../http/problem.ts';

/** Time after which a refused client should ask again. */
const ASK_AGAIN_MS = 10_000;

interface Most {
  readonly inAll: number;
  readonly ofToken: number;
  readonly ofSession: number;
}

/** Who takes a place. */
export interface Holder {
  /** The token's name; undefined for an API without tokens, whose callers are all one. */
  readonly token: string | undefined;
  /** The session; undefined for a request with a token. */
  readonly session: string | undefined;
}

/** Places for long answers, of which each token and each session can take only a share, so that none takes all. */
export class Shares {
  readonly #most: Most;
  readonly #taken = new Map<string, number>();

  constructor(most: Most) {
    this.#most = most;
  }

  /**
   * Takes a place. Returns a function that gives it back, once.
   *
   * @throws Problem if none is free, or the token or session has its share already
   */
  take({ token, session }: Holder): () => void {
    const { inAll, ofToken, ofSession } = this.#most;
    const keys: string[] = [];
    const expect = (key: string, most: number, whose: string): void => {
      keys.push(key);
      if ((this.#taken.get(key) ?? 0) < most) return;
      throw new Problem('too_many_requests', `there are ${most} listeners${whose} already`, {
        retryAfterMs: ASK_AGAIN_MS,
      });
    };
    expect('all', inAll, '');
    if (token !== undefined) expect(`token ${token}`, ofToken, ` of token ${token}`);
    if (session !== undefined) expect(`session ${session}`, ofSession, ' of this session');
    this.#add(keys, 1);
    let isHeld = true;
    return () => {
      if (isHeld) this.#add(keys, -1);
      isHeld = false;
    };
  }

  #add(keys: readonly string[], change: 1 | -1): void {
    for (const key of keys) {
      const taken = (this.#taken.get(key) ?? 0) + change;
      if (taken > 0) this.#taken.set(key, taken);
      else this.#taken.delete(key);
    }
  }
}
