import { headerProblem, headerValueProblem } from '../../task/host/host-headers.ts';
import { type Method, type SentRequest, sentTo, type TaskRequest } from '../../task/task/request.ts';
import { ProblemError } from '../failures/step-error.ts';
import { requestOf } from '../followed-request.ts';
import type { ChangedRequest, RequestInSight } from './middleware.ts';

/** A request as the middleware so far has changed it. */
export interface RequestInMaking {
  readonly seen: RequestInSight;
  /** Whether the request may be sent again when its fate is unknown. */
  readonly mayRepeat: boolean;
}

/**
 * Returns the request after one more middleware has changed it. A method without a body (GET, HEAD) drops the old body, and a new
 * body drops the old content type. With a new method, the request may be repeated if that method allows it, or if the change says
 * `idempotent`.
 *
 * @throws ProblemError, CrawlerFault if it can't be sent
 */
export function changedBy(changed: ChangedRequest, { seen, mayRepeat }: RequestInMaking): RequestInMaking {
  const { method = seen.method, idempotent } = changed;
  const hasBody = 'body' in changed;
  const own = headersOf(changed.headers ?? {}, hasBody);
  if (changed.method === undefined && !hasBody && idempotent === undefined)
    return { seen: { ...seen, headers: { ...seen.headers, ...own } }, mayRepeat };
  const { 'content-type': type, ...others } = seen.headers;
  const isBodiless = method === 'GET' || method === 'HEAD';
  const keepsBody = !hasBody && !isBodiless && seen.body !== undefined;
  const request: TaskRequest = requestOf({
    url: seen.url,
    method: method as Method,
    body: keepsBody ? seen.body : changed.body,
    headers: { ...others, ...(keepsBody && type !== undefined ? { 'content-type': type } : {}), ...own },
    ...(idempotent === undefined ? {} : { idempotent }),
  }) ?? { method: 'GET' };
  const sent: SentRequest = sentTo(seen.url, request, seen.url);
  const isSame = method === seen.method;
  return {
    seen: { url: seen.url, method, headers: sent.headers ?? {}, body: sent.body },
    mayRepeat: sent.mayRepeat || (isSame && mayRepeat),
  };
}

/** Checks headers and lower-cases their names. @param hasBody allows a content type as well */
function headersOf(given: unknown, hasBody = false): Record<string, string> {
  if (typeof given !== 'object' || given === null) throw new ProblemError('expected headers to be an object');
  const own: Record<string, string> = {};
  for (const [name, value] of Object.entries(given)) {
    const lower = name.toLowerCase();
    const isType = hasBody && lower === 'content-type';
    const problem = isType ? headerValueProblem(value) : headerProblem(lower, value);
    if (problem !== undefined) throw new ProblemError(`header "${name}": ${problem}`);
    own[lower] = value as string;
  }
  return own;
}
