import { nearestOf } from '../../settings/nearest-name.ts';
import { duration } from '../../settings/parsers.ts';
import { isObject } from '../../task/is-object.ts';
import type { FollowedRequest } from '../followed-request.ts';
import type { FormFields } from '../forms/form.ts';
import { NAME } from '../name.ts';
import type { Page } from '../page.ts';

/** The body of a request; see {@link FollowedRequest.body}. */
type Body = FollowedRequest['body'];

/** The argument of a login. Its requests keep to the pace of their hosts, obey robots.txt and share the session's cookies. */
export interface LoginContext {
  /** Fetches a page and follows redirects. Returns a page whatever its status; one that isn't 2xx has an empty body. */
  readonly get: (url: string, how?: Pick<FollowedRequest, 'headers'>) => Promise<Page>;
  /** Sends a body: `URLSearchParams` as a form, a text as it is, anything else as JSON. */
  readonly post: (url: string, body: Body, how?: Pick<FollowedRequest, 'headers'>) => Promise<Page>;
  /**
   * Submits a form of a page as a browser would: with its own values, hidden fields included, replaced by `fields` (one that is undefined
   * stays as it is), and with its first button. Default form: the first with a password field, otherwise the first.
   */
  readonly submit: (page: Page, fields: FormFields, how?: { readonly form?: string }) => Promise<Page>;
  /** The values of the crawler's `secrets`, by name. */
  readonly secrets: Readonly<Record<string, string>>;
  /** The run's arguments. */
  readonly args: Readonly<Record<string, unknown>>;
}

/** A login, and when it must be repeated. Each worker logs in once per run, before the first page that needs it. */
export interface SessionDefinition {
  /** Logs in. Anything it throws is a failed login; after three of them the run is paused. */
  readonly login: (context: LoginContext) => void | Promise<void>;
  /**
   * Returns whether an answer shows that the session has ended. Called for each answer, redirects included, with a page that has status and
   * headers but no body. Default: a status of 401.
   */
  readonly isExpired?: (page: Page) => boolean;
  /** Lifetime of a login, such as `30m`. Default: until an answer shows that it has ended. */
  readonly ttl?: string;
}

/** A session of a crawler, with the name that steps use for it. */
export interface NamedSession extends SessionDefinition {
  /** {@link COMMON_SESSION} for the one that steps use by default. */
  readonly name: string;
}

/** Name of the crawler's own `session`; no other session can have it. */
export const COMMON_SESSION = '';

/** Beginning of the reason for a pause that failed logins caused. */
export const LOGIN_FAILED = 'its login failed';

const FIELDS = ['login', 'isExpired', 'ttl'];

/** Returns every problem with a crawler's sessions, a sentence each. */
export function sessionProblems(common: unknown, named: unknown = {}): readonly string[] {
  const own = common === undefined ? [] : problemsOf('session', common);
  if (!isObject(named)) return [...own, 'expected sessions to be logins by their names: { buyer: { login } }'];
  const names = Object.keys(named).filter((name) => !NAME.test(name));
  return [
    ...own,
    ...names.map((name) => `session ${name}: expected a name of letters, digits and hyphens, at most 63`),
    ...Object.entries(named).flatMap(([name, session]) => problemsOf(`session ${name}`, session)),
  ];
}

/** Returns every problem with the sessions that a crawler's steps choose, a sentence each. */
export function sessionNameProblems(
  steps: readonly { readonly name: string; readonly session?: unknown }[],
  { session, sessions = {} }: { readonly session?: unknown; readonly sessions?: object },
): readonly string[] {
  const names = Object.keys(sessions);
  const unnamed = names.filter((name) => steps.every((step) => step.session !== name));
  return [
    ...steps.flatMap((step) => {
      const { session: chosen } = step;
      if (chosen === undefined || chosen === false || names.includes(chosen as string)) return [];
      const known = names.length === 0 ? 'its crawler has no `sessions`' : `there are ${names.join(', ')}`;
      const nearest = typeof chosen === 'string' ? nearestOf(chosen, names) : undefined;
      const mend = nearest === undefined ? known : `did you mean ${nearest}?`;
      return [
        `step ${step.name}: expected session to be false or the name of one of \`sessions\`, got ${String(chosen)}: ${mend}`,
      ];
    }),
    ...unnamed.map(
      (name) =>
        `session ${name} is used by no step: set session: '${name}' in one${session === undefined ? ', or define it as `session` for all' : ''}`,
    ),
  ];
}

function problemsOf(called: string, session: unknown): readonly string[] {
  if (typeof session !== 'object' || session === null) return [`expected ${called} to be { login, isExpired, ttl }`];
  const { login, isExpired, ttl } = session as Readonly<Record<string, unknown>>;
  const read = ttl === undefined ? undefined : duration()(String(ttl));
  return [
    ...Object.keys(session)
      .filter((name) => !FIELDS.includes(name))
      .map((name) => `there is no ${name}; there are ${FIELDS.join(', ')}`),
    ...(typeof login === 'function' ? [] : ['expected login to be a function']),
    ...(isExpired === undefined || typeof isExpired === 'function' ? [] : ['expected isExpired to be a function']),
    ...(read !== undefined && 'expected' in read ? [`expected ttl to be ${read.expected}`] : []),
  ].map((problem) => `${called}: ${problem}`);
}

/** Returns the lifetime of a login in milliseconds; infinite by default. */
export function ttlMsOf({ ttl }: SessionDefinition): number {
  const read = ttl === undefined ? undefined : duration()(ttl);
  return read !== undefined && 'value' in read ? read.value : Number.POSITIVE_INFINITY;
}
