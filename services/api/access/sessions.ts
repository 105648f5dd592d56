import { timingSafeEqual } from 'node:crypto';
import type { Clock } from '../../../shared/runtime/clock.ts';
import { HOUR_MS } from '../../../shared/task/durations.ts';
import type { Caller, Tokens } from './tokens.ts';

export const SESSION_COOKIE = 'trawl_session';
/** A session ends this long after it began. */
export const SESSION_MS = 12 * HOUR_MS;

/**
 * Sessions of browsers, whose event sources can't send headers. A session is the name of its token and its end, signed: an API that
 * restarts knows it again, and one whose token is gone doesn't.
 */
export class Sessions {
  readonly #tokens: Tokens;
  readonly #clock: Pick<Clock, 'now'>;

  constructor(tokens: Tokens, clock: Pick<Clock, 'now'>) {
    this.#tokens = tokens;
    this.#clock = clock;
  }

  /** The value of the cookie. */
  begin({ name }: Caller): string {
    const text = `${name}.${this.#clock.now() + SESSION_MS}`;
    return `${text}.${this.#tokens.sign(name, text) ?? ''}`;
  }

  callerOf(cookie: string): Caller | undefined {
    return this.#read(cookie)?.caller;
  }

  /** When a request's session ends; never, if it came with a token instead. */
  endOf(header: string | undefined): number {
    const cookie = sessionCookieOf(header);
    return (cookie === undefined ? undefined : this.#read(cookie)?.end) ?? Number.POSITIVE_INFINITY;
  }

  #read(cookie: string): { readonly caller: Caller; readonly end: number } | undefined {
    const [, text = '', name = '', end = '', signature = ''] =
      /^((.{1,63})\.(\d{1,16}))\.([\w-]{1,64})$/.exec(cookie) ?? [];
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
