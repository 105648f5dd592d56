import { timingSafeEqual } from 'node:crypto';
import type { Clock } from '../../../shared/runtime/clock.ts';
import { HOUR_MS } from '../../../shared/task/durations.ts';
import type { Caller, Tokens } from './tokens.ts';

export const SESSION_COOKIE = 'trawl_session';
/** A session ends this long after it began. */
export const SESSION_MS = 12 * HOUR_MS;

/** Between the sessions of a cookie: no token's name holds it. */
const BETWEEN = '~';
/** Sessions of a cookie: those of more APIs are ended. */
const MOST_SESSIONS = 5;
const SESSION = /^((.{1,63})\.(\d{1,16}))\.([\w-]{1,64})$/;

interface Session {
  readonly caller: Caller;
  readonly end: number;
}

/**
 * Sessions of browsers, whose event sources can't send headers. A session is the name of its token and its end, signed: an API that
 * restarts knows it again, and one whose token is gone doesn't.
 *
 * A browser sends a host's cookies to all of its ports: the cookie holds a session for each API there, and each API leaves those of the
 * others in it.
 */
export class Sessions {
  readonly #tokens: Tokens;
  readonly #clock: Pick<Clock, 'now'>;

  constructor(tokens: Tokens, clock: Pick<Clock, 'now'>) {
    this.#tokens = tokens;
    this.#clock = clock;
  }

  /** The value of the cookie with a new session in it. */
  begin({ name }: Caller, header?: string): string {
    const text = `${name}.${this.#clock.now() + SESSION_MS}`;
    const own = `${text}.${this.#tokens.sign(name, text) ?? ''}`;
    return [own, ...this.#ofOthers(header)].slice(0, MOST_SESSIONS).join(BETWEEN);
  }

  /** The value of the cookie without a session here: empty if no other API has one in it. */
  end(header: string | undefined): string {
    return this.#ofOthers(header).slice(0, MOST_SESSIONS).join(BETWEEN);
  }

  callerOf(cookie: string): Caller | undefined {
    return this.#find(cookie)?.caller;
  }

  /** When a request's session ends; never, if it came with a token instead. */
  endOf(header: string | undefined): number {
    const cookie = sessionCookieOf(header);
    return (cookie === undefined ? undefined : this.#find(cookie)?.end) ?? Number.POSITIVE_INFINITY;
  }

  #find(cookie: string): Session | undefined {
    for (const text of cookie.split(BETWEEN)) {
      const session = this.#read(text);
      if (session !== undefined) return session;
    }
    return undefined;
  }

  /** Sessions that only another API can read, and that may still be good there. */
  #ofOthers(header: string | undefined): readonly string[] {
    const texts = sessionCookieOf(header)?.split(BETWEEN) ?? [];
    return texts.filter((text) => {
      const [, , , end] = SESSION.exec(text) ?? [];
      return Number(end) > this.#clock.now() && this.#read(text) === undefined;
    });
  }

  #read(session: string): Session | undefined {
    const [, text = '', name = '', end = '', signature = ''] = SESSION.exec(session) ?? [];
    const expected = this.#tokens.sign(name, text);
    if (expected === undefined || expected.length !== signature.length) return undefined;
    const isSigned = timingSafeEqual(Buffer.from(expected), Buffer.from(signature));
    const role = this.#tokens.roleOf(name);
    const isValid = isSigned && role !== undefined && Number(end) > this.#clock.now();
    return isValid ? { caller: { name, role }, end: Number(end) } : undefined;
  }
}

/** The session cookie of a request; nothing if it has none. */
export function sessionCookieOf(header: string | undefined): string | undefined {
  for (const pair of header?.split(';') ?? []) {
    const at = pair.indexOf('=');
    if (at > 0 && pair.slice(0, at).trim() === SESSION_COOKIE) return pair.slice(at + 1).trim();
  }
  return undefined;
}

/** The `Set-Cookie` header that begins a session, or with no value, ends it. */
export function cookieHeader(value: string, isSecure: boolean): string {
  const age = value === '' ? 0 : SESSION_MS / 1_000;
  return `${SESSION_COOKIE}=${value}; Path=/; Max-Age=${age}; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`;
}
