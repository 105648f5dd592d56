import { hash } from 'node:crypto';
import { z } from 'zod';
import { headerProblem, headerValueProblem } from '../host/host-headers.ts';

/** The request of a task that isn't a plain GET of its URL. */
export interface TaskRequest {
  readonly method: Method;
  readonly body?: string | undefined;
  /** Names in lower case. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The request may be sent again when its fate is unknown. */
  readonly idempotent?: true | undefined;
  /** A redirect has made it a GET without a body. */
  readonly isGet?: true | undefined;
  /** The request was sent and answered, but its task had to be put back. */
  readonly isSent?: true | undefined;
}

export const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;
export type Method = (typeof METHODS)[number];

/** Methods that a client may send twice (RFC 9110 section 9.2.2). */
const IDEMPOTENT: ReadonlySet<Method> = new Set(['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS']);
const BODILESS: ReadonlySet<Method> = new Set(['GET', 'HEAD']);

/** Maximum bytes of a request's body. */
const MAX_REQUEST_BODY_BYTES = 65_536;
/** Maximum bytes of a request as JSON, headers included: it travels in its task's message. */
const MAX_REQUEST_BYTES = 98_304;

/** A reason why a request can't be sent. `isSize`: only because it is too large. */
export interface RequestProblem {
  readonly problem: string;
  readonly isSize?: true;
}

/** A request as sent to one URL: the method, and those headers and the body that are meant for it. */
export type SentRequest = Pick<TaskRequest, 'method' | 'body' | 'headers'> & {
  /** May the request be sent again when its fate is unknown? */
  readonly mayRepeat: boolean;
};

/** Checks a request. Returns nothing if it can be sent. */
export function requestProblem({ method, body, headers = {} }: TaskRequest): RequestProblem | undefined {
  if (body !== undefined && BODILESS.has(method))
    return { problem: `a ${method} has no body: say method: 'POST', or another that has one` };
  if (body !== undefined) {
    const bytes = Buffer.byteLength(body);
    if (bytes > MAX_REQUEST_BODY_BYTES)
      return { problem: `its body has ${bytes} bytes, more than ${MAX_REQUEST_BODY_BYTES}`, isSize: true };
  }
  for (const [name, value] of Object.entries(headers)) {
    const isType = name === 'content-type' && body !== undefined;
    const problem = isType ? headerValueProblem(value) : headerProblem(name, value);
    if (problem !== undefined) return { problem: `header "${name}": ${problem}` };
  }
  const bytes = Buffer.byteLength(JSON.stringify({ method, body, headers }));
  if (bytes <= MAX_REQUEST_BYTES) return undefined;
  return { problem: `it has ${bytes} bytes as JSON, more than ${MAX_REQUEST_BYTES}`, isSize: true };
}

/** Schema of a request in a message or a form. */
export function requestSchema(): z.ZodType<TaskRequest> {
  const flag = z.literal(true).optional();
  return z
    .object({
      method: z.enum(METHODS),
      body: z.string().optional(),
      headers: z.record(z.string().regex(/^[^A-Z]+$/), z.string()).optional(),
      idempotent: flag,
      isGet: flag,
      isSent: flag,
    })
    .superRefine((request, context) => {
      const wrong = requestProblem(request);
      if (wrong !== undefined) context.addIssue({ code: 'custom', message: wrong.problem });
    });
}

/** Computes the digest that ends a request's mark and cache key: 64 bits of SHA-256, as hex. Nothing for a plain GET. */
export function digestOf(request: TaskRequest | undefined): string | undefined {
  if (request === undefined) return undefined;
  const { method, body = '', headers = {} } = request;
  // After a middleware has changed a request, a plain GET can be left that only carries `isSent`.
  if (method === 'GET' && body === '' && Object.keys(headers).length === 0) return undefined;
  const sorted = Object.entries(headers).sort(([a], [b]) => (a < b ? -1 : 1));
  return hash('sha256', JSON.stringify([method, body, sorted])).slice(0, 16);
}

/** Returns the request as it was first followed, for a task that starts over. */
export function asFollowed({ isGet: _, isSent: __, ...request }: TaskRequest): TaskRequest {
  return request;
}

/**
 * Returns the request to send after a redirect, by the Fetch standard.
 *
 * | status        | was         | becomes           |
 * |---------------|-------------|-------------------|
 * | 303           | GET or HEAD | the same          |
 * | 303           | another     | GET, without body |
 * | 301, 302      | POST        | GET, without body |
 * | 301, 302      | another     | the same          |
 * | 307, 308      | any         | the same          |
 */
export function afterRedirect(request: TaskRequest, status: number): TaskRequest {
  const { method } = request;
  const isGet = status === 303 ? !BODILESS.has(method) : (status === 301 || status === 302) && method === 'POST';
  return isGet ? { ...request, isGet } : request;
}

/**
 * Returns the parts of a request that are sent to one URL. Its own headers go only to the origin that it was followed to, not to others
 * that redirects lead to; the `Content-Type` goes with the body.
 */
export function sentTo(url: string, request: TaskRequest, followed: string): SentRequest {
  const { method, body, headers = {}, isGet, idempotent } = request;
  const isHome = URL.parse(url)?.origin === URL.parse(followed)?.origin;
  const { 'content-type': type, ...others } = headers;
  const own = isHome ? others : {};
  if (isGet === true) return { method: 'GET', headers: own, mayRepeat: true };
  return {
    method,
    ...(body === undefined ? {} : { body }),
    headers: type === undefined ? own : { ...own, 'content-type': type },
    mayRepeat: idempotent === true || IDEMPOTENT.has(method),
  };
}

/** May another run use the answer? Only if it answers a GET or HEAD without credentials. */
export function isCacheable(request: TaskRequest | undefined): boolean {
  if (request === undefined) return true;
  const { method, headers = {} } = request;
  return BODILESS.has(method) && headers.authorization === undefined && headers.cookie === undefined;
}

/** Returns a request fit to be shown: without the values of its credentials. */
export function shownRequest({ headers, ...request }: TaskRequest): TaskRequest {
  if (headers === undefined) return request;
  const shown = Object.entries(headers).map(([name, value]) => [name, isSecret(name) ? '…' : value]);
  return { ...request, headers: Object.fromEntries(shown) };
}

/** Does a header of this name hold a secret? */
export function isSecret(name: string): boolean {
  return SECRET.test(name);
}

const SECRET = /^(authorization|cookie)$|token|secret|api-?key|session/;
