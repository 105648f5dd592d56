import type { FastifyContextConfig, FastifyRequest } from 'fastify';
import { SECOND_MS } from '../../../shared/task/durations.ts';
import { withoutCredentialsIn } from '../../../shared/task/url/url.ts';
import { Problem } from '../http/problem.ts';
import type { Api, ApiParts } from '../parts.ts';
import { Allowance } from './allowance.ts';
import { isOwnHost, isOwnOrigin } from './request-origin.ts';
import { type Sessions, sessionCookieOf } from './sessions.ts';
import { type Caller, LOCAL_CALLER, mayDo, type Role, type Tokens } from './tokens.ts';

interface Changed {
  /** The run, host or filter that was changed. Defaults to the parameters of the path. */
  readonly target?: string;
  /** A dry run, which changes nothing. */
  readonly isDry?: boolean;
  /** The change is in the audit already. */
  readonly isNoted?: boolean;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The caller; undefined on routes that check no token. */
    caller: Caller | undefined;
    /** The change, for the audit, if the parameters of the path don't describe it. */
    changed: Changed | undefined;
    /** Notes a long change in the audit before it begins, since this process might end half-way. A dry run is not noted. */
    begins(changed: Changed): Promise<void>;
  }
}

/** Requests of one caller. Far more than dashboards and scripts make. */
const REQUESTS = { perSecond: 100, atOnce: 300 };
/** Wrong tokens from one address: ten at once, then one every ten seconds. */
const FAILURES = { perSecond: 0.1, atOnce: 10 };
const CHANGING = new Set(['POST', 'PUT', 'DELETE', 'PATCH']);

/** Adds the hooks that check each request's origin, token, rate and role, and that note every change in the audit. */
export function addAccess(app: Api, parts: ApiParts, failures: Allowance): void {
  const { tokens, sessions, settings, clock, audit, snapshots, letters, hosts } = parts;
  const requests = new Allowance(REQUESTS.perSecond, REQUESTS.atOnce, clock);
  app.decorateRequest('caller', undefined);
  app.decorateRequest('changed', undefined);

  app.addHook('onRequest', async (request) => {
    const role = roleOf(request.routeOptions.config, request.method);
    if (role === 'none') return;
    const { host, origin } = request.headers;
    if (!isOwnHost(host, settings.apiHosts))
      throw new Problem('forbidden', `the host ${host ?? '(none)'} is not a name of this API (API_HOSTS)`);
    if (CHANGING.has(request.method) && !isOwnOrigin(request.headers))
      throw new Problem(
        'forbidden',
        `the request comes from a page of ${origin ?? 'another site'}, not of ${host}: a proxy in front must pass on the Host header`,
      );
    const caller = role === 'session' ? undefined : callerOf(request, tokens, sessions, failures);
    limit(requests, caller === undefined || tokens.isEmpty ? request.ip : `token ${caller.name}`);
    request.caller = caller;
    if (caller !== undefined && role !== 'session') expectRole(caller, role);
  });

  const note = async (request: FastifyRequest, outcome = ''): Promise<void> => {
    const action = `${request.routeOptions.config.action ?? ''}${outcome}`;
    const { name: by, role } = request.caller ?? LOCAL_CALLER;
    const at = new Date(clock.now()).toISOString();
    await audit.note({ at, by, role, action, target: targetOf(request), reason: reasonOf(request) });
  };
  app.decorateRequest('begins', async function (this: FastifyRequest, changed: Changed): Promise<void> {
    this.changed = { ...changed, isNoted: true };
    if (changed.isDry !== true) await note(this);
  });

  app.addHook('onSend', async (request, reply) => {
    const { action } = request.routeOptions.config;
    if (action === undefined || request.changed?.isDry === true) return;
    // The next answer must show the change, even one that was given up half-way.
    snapshots.forget();
    letters.forget();
    hosts.forget();
    const isRefused = reply.statusCode >= 400;
    const isNoted = request.changed?.isNoted === true;
    // What was noted before it began and then failed might have been done in part.
    if (isRefused && isNoted) await note(request, `: failed (${reply.statusCode})`);
    else if (!isRefused && !isNoted) await note(request);
  });
}

/** Returns the role that a route needs. */
export function roleOf(config: FastifyContextConfig | undefined, method: string): Role | 'none' | 'session' {
  return config?.role ?? (CHANGING.has(method) ? 'admin' : 'read');
}

/** @throws Problem if the request has no valid token or session */
function callerOf(request: FastifyRequest, tokens: Tokens, sessions: Sessions, failures: Allowance): Caller {
  if (tokens.isEmpty) return LOCAL_CALLER;
  const { authorization, cookie } = request.headers;
  const secret = /^Bearer +(\S+) *$/i.exec(authorization ?? '')?.[1];
  if (secret !== undefined) return callerOfSecret(secret, request.ip, tokens, failures);
  const session = sessionCookieOf(cookie);
  const caller = session === undefined ? undefined : sessions.callerOf(session);
  if (caller !== undefined) return caller;
  throw new Problem('unauthorized', 'expected a token, as Authorization: Bearer … or in a session');
}

/** @throws Problem if no token has this secret, or too many wrong ones came from this address */
export function callerOfSecret(secret: string, address: string, tokens: Tokens, failures: Allowance): Caller {
  const waitMs = failures.waitMs(address);
  if (waitMs > 0) throw tooMany('wrong tokens', waitMs);
  const caller = tokens.callerOf(secret);
  if (caller !== undefined) return caller;
  failures.take(address);
  throw new Problem('unauthorized', 'no token has this secret');
}

/** @throws Problem if the crawl needs a higher role: ignoring robots.txt needs an admin, who answers for it */
export function expectMayAsk(
  caller: Caller | undefined,
  options: { readonly robots?: 'ignore' | undefined } = {},
): void {
  if (options.robots === 'ignore') expectRole(caller ?? LOCAL_CALLER, 'admin');
}

/** Returns the allowance of wrong tokens, shared by all routes that take one. */
export function newFailures(parts: Pick<ApiParts, 'clock'>): Allowance {
  return new Allowance(FAILURES.perSecond, FAILURES.atOnce, parts.clock);
}

/** @throws Problem if the caller's role is too low */
function expectRole(caller: Caller, role: Role): void {
  if (!mayDo(caller, role))
    throw new Problem('forbidden', `token ${caller.name} has the role ${caller.role}; this needs the role ${role}`);
}

function limit(requests: Allowance, who: string): void {
  const waitMs = requests.take(who);
  if (waitMs > 0) throw tooMany('requests', waitMs);
}

function tooMany(what: string, waitMs: number): Problem {
  return new Problem('too_many_requests', `too many ${what}`, { retryAfterMs: Math.max(waitMs, SECOND_MS) });
}

function targetOf({ params, changed }: FastifyRequest): string {
  if (changed?.target !== undefined) return withoutCredentialsIn(changed.target);
  return Object.values((params ?? {}) as Record<string, string>).join(' ');
}

function reasonOf({ body }: FastifyRequest): string | null {
  const { reason } = (body ?? {}) as { readonly reason?: unknown };
  return typeof reason === 'string' && body !== null && !('dryRun' in (body as object)) ? reason : null;
}
