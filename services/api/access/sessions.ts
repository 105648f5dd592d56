import { timingSafeEqual } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../../shared/runtime/clock.ts';
import { HOUR_MS } from '../../../shared/task/durations.ts';
import type { Caller, Tokens } from './tokens.ts';

export const SESSION_COOKIE = 'trawl_session';
/** Length of a session. */
export const SESSION_MS = 12 * HOUR_MS;

/** Separates the sessions in a cookie. No token's name contains it. */
const BETWEEN = '~';
/** Sessions kept in one cookie; any further ones end. */
const MOST_SESSIONS = 5;
/** Sessions ended early that are remembered. Beyond this, the ones not seen for longest are forgotten. */
const MOST_ENDED = 10_000;
const SESSION = /^((.{1,63})\.(\d{1,16}))\.([\w-]{1,64})$/;

interface Session {
  readonly caller: Caller;
  readonly end: number;
}

/**
 * Sessions of browsers, needed since their event sources can't send headers. A session is the name of its token and the time of its end,
 * signed. So it survives a restart of the API, and ends when its token is removed. One that was ended early is refused until this process
 * ends.
 *
 * A browser sends a host's cookies to all of its ports. So the cookie holds one session for each API on that host, and each API keeps the
 * sessions of the others in it.
 */
export class Sessions {
  readonly #tokens: Tokens;
  readonly #clock: Pick<Clock, 'now'>;
  /** Sessions of this API that were ended early: somebody might still have a copy of the cookie. */
  readonly #ended = new LRUCache<string, true>({ max: MOST_ENDED, ttl: SESSION_MS });

  constructor(tokens: Tokens, clock: Pick<Clock, 'now'>) {
    this.#tokens = tokens;
    this.#clock = clock;
  }

  /** Returns the cookie's value with a new session added. */
  begin({ name }: Caller, header?: string): string {
    const text = `${name}.${this.#clock.now() + SESSION_MS}`;
    const own = `${text}.${this.#tokens.sign(name, text) ?? ''}`;
    return [own, ...this.#ofOthers(header)].slice(0, MOST_SESSIONS).join(BETWEEN);
  }

  /** Ends the session of this API. Returns the cookie's value without it; empty if no other API has one in it. */
  end(header: string | undefined): string {
    for (const text of textsOf(header)) if (this.#own(text) !== undefined) this.#ended.set(text, true);
    return this.#ofOthers(header).slice(0, MOST_SESSIONS).join(BETWEEN);
  }

  callerOf(cookie: string): Caller | undefined {
    return this.#find(cookie)?.caller;
  }

  /** Returns when a request's session ends; never for a request with a token instead. */
  endOf(header: string | undefined): number {
    const cookie = sessionCookieOf(header);
    return (cookie === undefined ? undefined : this.#find(cookie)?.end) ?? Number.POSITIVE_INFINITY;
  }

  /** Returns what tells a request's session from others, if it has one of this API. */
  idOf(header: string | undefined): string | undefined {
    return textsOf(header).find((text) => this.#read(text) !== undefined);
  }

  /** Tells whether a request's session was ended early. */
  wasEnded(header: string | undefined): boolean {
    return textsOf(header).some((text) => this.#ended.has(text));
  }

  #find(cookie: string): Session | undefined {
    for (const text of cookie.split(BETWEEN)) {
      const session = this.#read(text);
      if (session !== undefined) return session;
    }
    return undefined;
  }

  /** Returns the sessions that only another API can read and that may still be valid there. */
  #ofOthers(header: string | undefined): readonly string[] {
    return textsOf(header).filter((text) => {
      const [, , , end] = SESSION.exec(text) ?? [];
      return Number(end) > this.#clock.now() && this.#own(text) === undefined;
    });
  }

  #read(session: string): Session | undefined {
    return this.#ended.has(session) ? undefined : this.#own(session);
  }

  /** Returns a session of this API that has not expired, even if it was ended early. */
  #own(session: string): Session | undefined {
    const [, text = '', name = '', end = '', signature = ''] = SESSION.exec(session) ?? [];
    const expected = this.#tokens.sign(name, text);
    if (expected === undefined || expected.length !== signature.length) return undefined;
    const isSigned = timingSafeEqual(Buffer.from(expected), Buffer.from(signature));
    const role = this.#tokens.roleOf(name);
    const isValid = isSigned && role !== undefined && Number(end) > this.#clock.now();
    return isValid ? { caller: { name, role }, end: Number(end) } : undefined;
  }
}

function textsOf(header: string | undefined): readonly string[] {
  return sessionCookieOf(header)?.split(BETWEEN) ?? [];
}

/** Returns the session cookie of a request, or nothing if it has none. */
export function sessionCookieOf(header: string | undefined): string | undefined {
  for (const pair of header?.split(';') ?? []) {
    const at = pair.indexOf('=');
    if (at > 0 && pair.slice(0, at).trim() === SESSION_COOKIE) return pair.slice(at + 1).trim();
  }
  return undefined;
}

/** Returns the `Set-Cookie` header that stores the sessions, or deletes the cookie if the value is empty. */
export function cookieHeader(value: string, isSecure: boolean): string {
  const age = value === '' ? 0 : SESSION_MS / 1_000;
  return `${SESSION_COOKIE}=${value}; Path=/; Max-Age=${age}; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`;
}
