import { nearestOf } from '../../settings/nearest-name.ts';
import { duration } from '../../settings/parsers.ts';
import { isObject } from '../../task/is-object.ts';
import type { FollowedRequest } from '../followed-request.ts';
import type { FormFields } from '../forms/form.ts';
import { NAME } from '../name.ts';
import type { Page } from '../page.ts';

/** What the body of a request may be; see {@link FollowedRequest.body}. */
type Body = FollowedRequest['body'];

/** What a login gets. Its requests keep the pace of their hosts, obey robots.txt, and share the session's cookies. */
export interface LoginContext {
  /** Fetches a page, redirects included. A page of any status is returned; what isn't 2xx has no body. */
  readonly get: (url: string, how?: Pick<FollowedRequest, 'headers'>) => Promise<Page>;
  /** Sends a body: parameters (`URLSearchParams`) as a form, a text as it is, anything else as JSON. */
  readonly post: (url: string, body: Body, how?: Pick<FollowedRequest, 'headers'>) => Promise<Page>;
  /**
   * Submits a form of a page as a browser would: with its hidden fields and what is filled in already, and with these fields (one that is undefined is left as it is), and its
   * first button pressed. Default form: the first with a password, else the first.
   */
  readonly submit: (page: Page, fields: FormFields, how?: { readonly form?: string }) => Promise<Page>;
  /** The values of the crawler's `secrets`, by name. */
  readonly secrets: Readonly<Record<string, string>>;
  /** The run's arguments. */
  readonly args: Readonly<Record<string, unknown>>;
}

/** A login, and when it is needed again. Each worker logs in once for a run, before the first page that needs it. */
export interface SessionDefinition {
  /** Logs in; what it throws is a failed login. After three of them the run is paused. */
  readonly login: (context: LoginContext) => void | Promise<void>;
  /**
   * Does an answer say that the session has ended? Asked of each answer, redirects included, whose page has a status, headers and
   * no body. Default: a status of 401.
   */
  readonly isExpired?: (page: Page) => boolean;
  /** How long a login is good for, as `30m`. Default: until an answer says otherwise. */
  readonly ttl?: string;
}

/** A session of a crawler, with the name that steps call it by. */
export interface NamedSession extends SessionDefinition {
  /** {@link COMMON_SESSION} for the one that steps have unless they say otherwise. */
  readonly name: string;
}

/** No session that has a name is called so. */
export const COMMON_SESSION = '';

/** How the reason of a pause begins that a failed login is the cause of. */
export const LOGIN_FAILED = 'its login failed';

const FIELDS = ['login', 'isExpired', 'ttl'];

/** What is wrong with a crawler's sessions, each as a sentence. */
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

/** What is wrong with what the steps of a crawler say of its sessions, each as a sentence. */
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
        `session ${name} is for no step: say session: '${name}' in one${session === undefined ? ', or call it `session` for all' : ''}`,
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

/** How long a login of this session is good for. */
export function ttlMsOf({ ttl }: SessionDefinition): number {
  const read = ttl === undefined ? undefined : duration()(ttl);
  return read !== undefined && 'value' in read ? read.value : Number.POSITIVE_INFINITY;
}
